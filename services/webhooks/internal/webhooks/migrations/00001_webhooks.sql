-- +goose Up

create table webhook (
	id          uuid        primary key,
	name        text        not null,
	url         text        not null,
	events      text[]      not null,
	active      boolean     not null,
	paused      text        check (paused in ('failures', 'secret')),
	failures    int         not null default 0, -- failed attempts in a row
	secret      bytea       not null,           -- sealed with the master key
	secret_hint text        not null,
	created_at  timestamptz not null,
	updated_at  timestamptz not null
) with (fillfactor = 70);

-- An event as it is told, once for all who subscribed it.
create table message (
	id         uuid        primary key, -- of the event
	event      text        not null,
	record     uuid        not null,
	contact    uuid,                -- whose data the body holds
	payload    text        not null, -- the very bytes that are sent
	scrubbed   boolean     not null default false, -- its record was erased: answers are not kept, they may repeat it
	created_at timestamptz not null
);
create index message_contact on message (contact) where contact is not null;
create index message_record on message (record);
create index message_age on message (created_at);

-- One message for one webhook. The row is the truth about what is still to be done; timers only say when
-- to look. It has no foreign key: a webhook with a long log is gone at once, its log soon after.
create table delivery (
	id              uuid        primary key,
	seq             bigint      generated always as identity,
	webhook         uuid        not null,
	message         uuid        not null,
	record          uuid        not null, -- what it is about: its deliveries go out in the order of seq
	status          text        not null check (status in ('queued', 'retrying', 'delivered', 'failed')),
	attempts        int         not null default 0,
	failed_attempts int         not null default 0, -- of the schedule: resends do not count
	once            boolean     not null default false, -- a test: one attempt, never a second
	response_code   int,
	error           text,
	duration_ms     int,
	next_attempt_at timestamptz,
	created_at      timestamptz not null,
	delivered_at    timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02);

create index delivery_log on delivery (webhook, created_at desc, id desc);
create index delivery_delivered on delivery (webhook, created_at desc, id desc) where status = 'delivered';
create index delivery_failed on delivery (webhook, created_at desc, id desc) where status = 'failed';
create index delivery_queued on delivery (webhook, seq) where status = 'queued';
create index delivery_retrying on delivery (webhook, next_attempt_at) where status = 'retrying';
create index delivery_age on delivery using brin (created_at);

-- Deliveries that are being sent just now: by whom, and until when that counts. The times are the database's.
create table lease (
	delivery uuid        primary key,
	webhook  uuid        not null,
	token    uuid        not null,
	until    timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index lease_webhook on lease (webhook);

-- What was sent where and what came back, of each attempt.
create table attempt (
	message       uuid        not null,
	delivery      uuid        not null,
	number        int         not null,
	at            timestamptz not null,
	url           text        not null,
	response_code int,
	response_body bytea       not null default '',
	error         text,
	duration_ms   int         not null,
	primary key (message, delivery, number)
);

-- Sizes of the logs, so that a list need not count its rows. Changes are appended, for writers never to
-- wait for each other, and added up every few seconds.
create table tally (
	webhook uuid   not null,
	status  text   not null,
	n       bigint not null
);

-- Contacts that were erased: an event about one that arrives late carries nothing but ids.
create table erased (
	contact   uuid        primary key,
	erased_at timestamptz not null default now()
);

-- Webhooks that were deleted, while their log is cleared away.
create table removed (
	webhook    uuid        primary key,
	removed_at timestamptz not null default now()
);

-- A UUIDv7, as for all new records.
create function new_id() returns uuid language sql volatile as $$
	select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
		substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- +goose Down
drop table removed, erased, tally, attempt, lease, delivery, message, webhook;
drop function new_id;
