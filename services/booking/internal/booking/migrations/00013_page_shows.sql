-- +goose Up
-- What widgets a page shows, as settings says. The content is still kept for replicas of before.
alter table page add column shows jsonb not null default '[]';

-- +goose Down
alter table page drop column shows;
