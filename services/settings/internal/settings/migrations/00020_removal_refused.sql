-- +goose Up
-- Why booking did not remove somebody whose invitation was to be revoked, for the request that waits.
create table refused_removal (
	request_id uuid        primary key,
	status     int         not null,
	code       text        not null,
	message    text        not null,
	data       jsonb,
	at         timestamptz not null
);

-- +goose Down
drop table refused_removal;
