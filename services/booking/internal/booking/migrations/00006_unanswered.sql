-- +goose Up
-- When contacts was asked again about a client whom it does not have yet (version 0); null for never,
-- infinity when it has answered that it makes none.
alter table contact add column asked_at timestamptz;

-- +goose Down
alter table contact drop column asked_at;
