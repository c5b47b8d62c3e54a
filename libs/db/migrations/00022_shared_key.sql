-- +goose Up
-- The id of the shared key with which the hashes in this schema are made. A process with another one finds nobody by them.
create table shared_key (
	one boolean primary key default true check (one),
	id  bytea   not null
);

-- +goose Down
drop table shared_key;
