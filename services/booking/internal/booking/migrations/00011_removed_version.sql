-- +goose Up
-- The version of the person's identity when they were removed from the team: only a newer one takes them back.
alter table staff add removed_version bigint;

-- +goose Down
alter table staff drop removed_version;
