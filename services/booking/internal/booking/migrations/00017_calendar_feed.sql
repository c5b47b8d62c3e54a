-- +goose Up
-- The address at which a person's own calendar reads their appointments: one a person, by the hash of its token.
create table calendar_feed (
	user_id      bigint      primary key,
	hash         bytea       not null unique,
	details      text        not null,
	created_at   timestamptz not null,
	last_read_at timestamptz
);

-- +goose Down
drop table calendar_feed;
