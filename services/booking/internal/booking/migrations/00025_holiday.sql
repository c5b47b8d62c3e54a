-- +goose Up
-- A closure that came from the list of public holidays: one a day, however often the list is added.
alter table exception add column holiday boolean not null default false;

-- +goose Down
alter table exception drop column holiday;
