-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists import_error_row;
create index concurrently import_error_row on import_error (import_id, row, n);

-- +goose Down
drop index import_error_row;
