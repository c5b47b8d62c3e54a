-- +goose Up
-- The records of a call that changed many.
alter table audit add column record_ids text[] not null default '{}';

-- +goose Down
alter table audit drop column record_ids;
