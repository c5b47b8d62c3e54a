-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists mail_turns;
create index concurrently mail_turns on mail (about, turn) where status in ('queued', 'retrying', 'sending') and turn is not null;

-- +goose Down
drop index mail_turns;
