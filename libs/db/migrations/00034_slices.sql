-- +goose Up
-- While the rows of a loss are let wait again: when, and at which offset, the first one was sent that does not wait yet. The message of this row of published is then
-- the first one that the log has not. Null while nothing is repaired.
alter table published add column next_sent_at timestamptz, add column next_offset bigint;

-- +goose Down
alter table published drop column next_offset, drop column next_sent_at;
