-- +goose Up
-- Counts the changes that the team makes, for If-Match.
alter table webhook add version bigint not null default 1;
