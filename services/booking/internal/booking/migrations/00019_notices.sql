-- +goose Up
-- Addresses that are told of what becomes of appointments, and when the team was told that a request still waits.
alter table settings add column notify_emails text[] not null default '{}';
alter table appointment add column waiting_told timestamptz;

-- +goose Down
alter table appointment drop column waiting_told;
alter table settings drop column notify_emails;
