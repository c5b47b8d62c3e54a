-- +goose Up
-- What is wrong with a row, for programs that say it in another language: a code, and the values that the message names.
alter table import_error add details jsonb not null default '{}';

-- +goose Down
alter table import_error drop details;
