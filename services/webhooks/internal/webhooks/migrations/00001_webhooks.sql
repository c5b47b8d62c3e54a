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

-- One event for one webhook. The row is the truth about what is still to be done; timers only say when
-- to look. It has no foreign key: a webhook with a long log is gone at once, its log soon after.
create table delivery (
	id              uuid        primary key,
	seq             bigint      generated always as identity,
	webhook         uuid        not null,
	event           text        not null,
	event_id        uuid        not null,
	record          uuid        not null, -- what the event is about; its events go out in the order of seq
	contact         uuid,                 -- whose data the body holds
	payload         text        not null, -- the very bytes that are sent
	scrubbed        boolean     not null default false, -- its record was erased: answers are not kept, they may repeat it
	status          text        not null check (status in ('queued', 'retrying', 'delivered', 'failed')),
	attempts        int         not null default 0,
	failed_attempts int         not null default 0, -- of the schedule: resends do not count
	once            boolean     not null default false, -- a test: one attempt, never a second
	response_code   int,
	error           text,
	duration_ms     int,
	next_attempt_at timestamptz,
	created_at      timestamptz not null,
	delivered_at    timestamptz,
	-- Who is sending it just now, and until when that counts. The times are the database's.
	lease           uuid,
	leased_until    timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create index delivery_log on delivery (webhook, created_at desc, id desc);
create index delivery_delivered on delivery (webhook, created_at desc, id desc) where status = 'delivered';
create index delivery_failed on delivery (webhook, created_at desc, id desc) where status = 'failed';
create index delivery_queued on delivery (webhook, seq) where status = 'queued';
create index delivery_retrying on delivery (webhook, next_attempt_at) where status = 'retrying';
create index delivery_contact on delivery (contact) where contact is not null;
create index delivery_record on delivery (record) where contact is null or contact <> record;
create index delivery_age on delivery using brin (created_at);

-- What was sent where and what came back, of each attempt.
create table attempt (
	delivery      uuid        not null,
	number        int         not null,
	at            timestamptz not null,
	url           text        not null,
	response_code int,
	response_body bytea       not null default '',
	error         text,
	duration_ms   int         not null,
	primary key (delivery, number)
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

-- +goose StatementBegin
create function count_deliveries() returns trigger language plpgsql as $$
begin
	if tg_op = 'INSERT' then
		insert into tally select webhook, status, count(*) from fresh group by webhook, status;
	elsif tg_op = 'DELETE' then
		insert into tally select webhook, status, -count(*) from gone group by webhook, status;
	else
		insert into tally select webhook, status, sum(n)
			from (select webhook, status, 1 as n from fresh union all select webhook, status, -1 from gone) as change
			group by webhook, status having sum(n) <> 0;
	end if;
	return null;
end $$;
-- +goose StatementEnd

create trigger delivery_comes after insert on delivery
	referencing new table as fresh for each statement execute function count_deliveries();
create trigger delivery_goes after delete on delivery
	referencing old table as gone for each statement execute function count_deliveries();
create trigger delivery_changes after update on delivery
	referencing old table as gone new table as fresh for each statement execute function count_deliveries();

-- A UUIDv7, as for all new records.
create function new_id() returns uuid language sql volatile as $$
	select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
		substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- +goose Down
drop table removed, erased, tally, attempt, delivery, webhook;
drop function count_deliveries, new_id;
