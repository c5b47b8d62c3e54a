-- +goose Up
-- A person's test receiver: an address that shows what arrives at it. It ends after an hour.
create table test_receiver (
	person     bigint      primary key,
	token      text        not null unique,
	until      timestamptz not null,
	created_at timestamptz not null
);

-- What has arrived, the newest few of each receiver.
create table test_request (
	id         uuid        primary key, -- in order of time
	person     bigint      not null references test_receiver on delete cascade,
	at         timestamptz not null,
	headers    jsonb       not null, -- [{name, value}]
	body       bytea       not null, -- its beginning
	size       int         not null, -- of the whole body
	signatures jsonb       not null  -- how each signature header was checked at arrival
);
create index test_request_of on test_request (person, id desc);

-- +goose Down
drop table test_request, test_receiver;
