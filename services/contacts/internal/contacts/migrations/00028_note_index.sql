-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists activity_pinned_contact;
create index concurrently activity_pinned_contact on activity (contact_id) where pinned and contact_id is not null;
drop index concurrently if exists activity_pinned_organization;
create index concurrently activity_pinned_organization on activity (organization_id) where pinned and organization_id is not null;

-- +goose Down
drop index activity_pinned_organization;
drop index activity_pinned_contact;
