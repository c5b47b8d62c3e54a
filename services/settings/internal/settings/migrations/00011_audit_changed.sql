-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists audit_changed_record;
create index concurrently audit_changed_record on audit (record_id) where changes is not null;
drop index concurrently if exists audit_people;
create index concurrently audit_people on audit using gin (people) where changes is not null;

-- +goose Down
drop index audit_people;
drop index audit_changed_record;
