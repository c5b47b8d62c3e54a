-- +goose Up
-- The last day with a digest of spam, and up to when the spam was in it.
create table spam_digest (
	one   boolean     primary key default true check (one),
	day   date        not null,
	until timestamptz not null
);

-- +goose Down
drop table spam_digest;
