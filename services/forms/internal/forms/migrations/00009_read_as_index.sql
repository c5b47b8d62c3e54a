-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists submission_read_as;
create index concurrently submission_read_as on submission (read_as, id);

-- +goose Down
drop index submission_read_as;
