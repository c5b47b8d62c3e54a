-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists forgotten_person_again;
create index concurrently forgotten_person_again on forgotten_person (at) where again;

-- +goose Down
drop index forgotten_person_again;
