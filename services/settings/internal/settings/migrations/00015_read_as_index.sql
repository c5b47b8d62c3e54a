-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists audit_read_as;
create index concurrently audit_read_as on audit (read_as, id) where changes is not null;

-- +goose Down
drop index audit_read_as;
