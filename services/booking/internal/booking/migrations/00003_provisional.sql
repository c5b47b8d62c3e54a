-- +goose Up
-- Clients who booked here first and are no contacts yet: these are looked through when an address is erased.
create index contact_provisional on contact (id) where version = 0;

-- +goose Down
drop index contact_provisional;
