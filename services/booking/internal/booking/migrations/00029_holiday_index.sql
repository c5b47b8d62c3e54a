-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists exception_holiday;
create unique index concurrently exception_holiday on exception (date_from) where holiday;

-- +goose Down
drop index exception_holiday;
