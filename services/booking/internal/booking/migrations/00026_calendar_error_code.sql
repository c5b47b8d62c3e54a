-- +goose Up
-- What last_error is about, for programs; of a calendar that failed before, which nobody knows, it comes with the next reading.
alter table external_calendar add column last_error_code text not null default '';

-- +goose Down
alter table external_calendar drop column last_error_code;
