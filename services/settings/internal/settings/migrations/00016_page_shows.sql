-- +goose Up
-- The version whose event says what the page shows. Replicas of before leave it as it is, and their events say nothing about it.
alter table page add column shown_version bigint not null default 0;

-- +goose Down
alter table page drop column shown_version;
