-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists assistant_url;
create unique index concurrently assistant_url on assistant (url);

-- +goose Down
drop index assistant_url;
