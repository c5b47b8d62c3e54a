-- +goose Up
-- What every service's schema holds beside its own tables.

-- Messages that wait for the relay; deleted once Kafka has them.
create table outbox (
	seq        bigint generated always as identity primary key,
	topic      text        not null,
	key        text        not null,
	value      bytea,                -- null is a tombstone
	created_at timestamptz not null default now()
);
create index outbox_record on outbox (topic, key);

-- How far each topic has been followed. It moves in the transaction of the effect.
create table position (
	topic     text   not null,
	partition int    not null,
	next      bigint not null,
	primary key (topic, partition)
);

-- Events already handled: the relay may send one twice.
create table inbox (
	event      uuid        primary key,
	handled_at timestamptz not null default now()
);
create index inbox_age on inbox (handled_at);

-- Messages that could not be handled after all retries; replayed from the admin port.
create table parked (
	id        bigint generated always as identity primary key,
	topic     text        not null,
	partition int         not null,
	"offset"  bigint      not null,
	key       text        not null,
	value     bytea,
	error     text        not null,
	parked_at timestamptz not null default now()
);

-- Answers of POSTs with an Idempotency-Key, for a day.
create table idempotency (
	caller     text        not null,
	op         text        not null,
	key        text        not null,
	request    bytea       not null, -- SHA-256 of the request
	status     int,                  -- null while the first call runs outside a transaction
	answer     bytea,
	created_at timestamptz not null default now(),
	primary key (caller, op, key)
);
create index idempotency_age on idempotency (created_at);

-- Token buckets of rate limits (GCRA): the time at which each bucket is empty again. Losing them in a
-- crash costs nothing, so they are not logged.
create unlogged table rate (
	key  text        primary key,
	full_at timestamptz not null
);

-- +goose Down
drop table rate, idempotency, parked, inbox, position, outbox;
