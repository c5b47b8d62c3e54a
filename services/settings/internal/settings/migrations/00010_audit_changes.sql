-- +goose Up
-- The values that changed, {field: {old, new}}, and the hashes of the addresses in them: by these an erased person is found.
alter table audit add column changes jsonb, add column people bytea[];

-- +goose Down
alter table audit drop column people, drop column changes;
