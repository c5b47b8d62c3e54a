-- +goose Up
-- When contacts was asked again about a submission; null for never.
alter table submission add column asked_at timestamptz;
create index submission_unanswered on submission (coalesce(asked_at, created_at)) where status = 'received' and result = 'pending';

-- +goose Down
drop index submission_unanswered;
alter table submission drop column asked_at;
