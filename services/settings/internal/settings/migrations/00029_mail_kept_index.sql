-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists mail_named;
create index concurrently mail_named on mail using gin (named, named_ids);
drop index concurrently if exists mail_about;
create index concurrently mail_about on mail (about, turn) where turn is not null;

-- +goose Down
drop index mail_about;
drop index mail_named;
