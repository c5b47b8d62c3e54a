-- +goose Up
-- The sessions of assistants that want to hear of the end of an approval and have not been told.
alter table approval add column sessions text[] not null default '{}';

-- +goose Down
alter table approval drop column sessions;
