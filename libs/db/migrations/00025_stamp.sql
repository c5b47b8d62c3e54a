-- +goose Up
-- The highest stamp in front of next, in a topic that its owner signs: after a restart, too, a message that is written again is refused.
alter table position add column stamp bigint not null default 0;

-- +goose Down
alter table position drop column stamp;
