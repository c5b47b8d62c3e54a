-- +goose Up
-- Which version of the person's identity was removed. A hand-over lasts while that version is on the team.
alter table hand_over add identity_version bigint not null default 0;

-- +goose Down
alter table hand_over drop identity_version;
