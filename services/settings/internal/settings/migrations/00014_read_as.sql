-- +goose Up
-- By which reading of addresses the hashes in people were made. A job makes those of an older one anew.
alter table audit add read_as smallint not null default 0;

-- +goose Down
alter table audit drop read_as;
