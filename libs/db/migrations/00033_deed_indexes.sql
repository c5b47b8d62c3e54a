-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists deed_version;
create index concurrently deed_version on deed (record) where record <> '';
-- Rows come in the order of their times, and go by them.
drop index concurrently if exists deed_at;
create index concurrently deed_at on deed using brin (at);
drop index concurrently if exists deed_age;

-- +goose Down
create index deed_age on deed (at);
drop index deed_at;
drop index deed_version;
