-- +goose Up
-- After a crash of PostgreSQL an unlogged table is empty, and another replica got a lease that its holder still believed in.
alter table work_lease set logged;

-- +goose Down
alter table work_lease set unlogged;
