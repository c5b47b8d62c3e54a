-- +goose NO TRANSACTION
-- +goose Up
create index concurrently mail_turns on mail (about, turn) where status in ('queued', 'retrying', 'sending') and turn is not null;

-- +goose Down
drop index mail_turns;
