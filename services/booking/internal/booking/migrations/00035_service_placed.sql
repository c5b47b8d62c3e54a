-- +goose Up
-- How often a service got another place in lists. The sum of all is the version of their order.
alter table service add column placed bigint not null default 0;

-- +goose Down
alter table service drop column placed;
