-- +goose Up
-- The language in which a link was mailed, and the statement that it confirms, as it was mailed.
alter table marketing_link add language text not null default '', add statement text not null default '';

-- +goose Down
alter table marketing_link drop language, drop statement;
