-- +goose Up
-- A closure that came from the list of public holidays: one a day, however often the list is added.
alter table exception add column holiday boolean not null default false;
create unique index exception_holiday on exception (date_from) where holiday;

-- +goose Down
drop index exception_holiday;
alter table exception drop column holiday;
