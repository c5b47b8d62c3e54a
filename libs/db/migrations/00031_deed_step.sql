-- +goose NO TRANSACTION
-- +goose Up
-- A step of a call is taken back once, whoever asks for it at the same moment.
set lock_timeout = 0;
drop index concurrently if exists deed_undoes;
create unique index concurrently deed_undoes on deed (undoes, step) where undoes is not null;

-- +goose Down
drop index deed_undoes;
create index deed_undoes on deed (undoes) where undoes is not null;
