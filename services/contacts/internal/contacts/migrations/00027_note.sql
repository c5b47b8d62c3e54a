-- +goose Up
-- Notes are changed and pinned.
alter table activity add column pinned boolean not null default false, add column edited_at timestamptz, add column version bigint not null default 1;

-- +goose Down
alter table activity drop column pinned, drop column edited_at, drop column version;
