-- +goose Up
-- By which reading of addresses an appointment was published. A job publishes those of an older one anew, where contacts does not have the client.
alter table appointment add read_as smallint not null default 0;

-- +goose Down
alter table appointment drop read_as;
