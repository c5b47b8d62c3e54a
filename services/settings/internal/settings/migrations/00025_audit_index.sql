-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists audit_record;
create index concurrently audit_record on audit (record_id, created_at desc, id desc);
drop index concurrently if exists audit_records;
create index concurrently audit_records on audit using gin (record_ids) where record_ids <> '{}';
drop index concurrently if exists audit_user;
create index concurrently audit_user on audit (user_id, created_at desc, id desc);
drop index concurrently if exists audit_refused;
create index concurrently audit_refused on audit (created_at desc, id desc) where outcome = 'refused';

-- +goose Down
drop index audit_refused;
drop index audit_user;
drop index audit_records;
drop index audit_record;
