-- +goose Up
-- The last number that Tick has given out.
alter table relay add column ticked bigint not null default 0;

-- +goose Down
alter table relay drop column ticked;
