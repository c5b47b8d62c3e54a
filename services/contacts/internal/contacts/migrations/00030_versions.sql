-- +goose Up
-- Whoever changes a group of fields or a tag says which state of it they have seen.
alter table field_group add column version bigint not null default 1;
alter table tag add column version bigint not null default 1;

-- +goose Down
alter table field_group drop column version;
alter table tag drop column version;
