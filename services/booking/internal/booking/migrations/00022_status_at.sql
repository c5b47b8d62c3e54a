-- +goose Up
-- When the status last changed; null for what was so before, whose last change of any kind counts.
alter table appointment add column status_at timestamptz;

-- +goose Down
alter table appointment drop column status_at;
