-- +goose Up
-- True until somebody has looked for the person again: once the transactions have ended that ran beside.
alter table forgotten_person add column again boolean not null default false;

-- +goose Down
alter table forgotten_person drop column again;
