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

create unique index delivery_event on delivery (webhook, event_id);
create index delivery_log on delivery (webhook, created_at desc, id desc);
create index delivery_log_status on delivery (webhook, status, created_at desc, id desc);
create index delivery_age on delivery (created_at);
create index delivery_queued on delivery (webhook, seq) where status = 'queued';
create index delivery_retrying on delivery (webhook, next_attempt_at) where status = 'retrying';
create index delivery_contact on delivery (contact) where contact is not null;
create index delivery_record on delivery (record);

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
create function count_delivery() returns trigger language plpgsql as $$
begin
	if tg_op <> 'INSERT' then
		insert into tally values (old.webhook, old.status, -1);
	end if;
	if tg_op <> 'DELETE' then
		insert into tally values (new.webhook, new.status, 1);
	end if;
	return null;
end $$;
-- +goose StatementEnd

create trigger delivery_comes_or_goes after insert or delete on delivery
	for each row execute function count_delivery();
create trigger delivery_changes after update of status on delivery
	for each row when (old.status is distinct from new.status) execute function count_delivery();

-- +goose Down
drop table removed, erased, tally, attempt, delivery, webhook;
drop function count_delivery;
