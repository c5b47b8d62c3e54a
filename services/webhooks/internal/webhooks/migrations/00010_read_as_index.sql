-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists message_read_as;
create index concurrently message_read_as on message (read_as, id);

-- +goose Down
drop index message_read_as;
