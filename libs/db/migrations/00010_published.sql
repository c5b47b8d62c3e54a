-- +goose Up
-- A row stays for a while after it was sent, with the place that the broker gave it: what a broker loses is sent again. The
-- primary key would cost an entry for each of the two versions of a row; the relay reads only what waits.
alter table outbox drop constraint outbox_pkey,
	add column hash      int,         -- of the key, which decides the partition; null in rows of an older process
	add column partition int,
	add column "offset"  bigint,
	add column sent_at   timestamptz; -- null while the row waits
create index outbox_waiting on outbox (seq) where sent_at is null;
create index outbox_sent on outbox (topic, partition, sent_at) where sent_at is not null;

-- The newest message that this service has in each partition. The relay checks that the broker still has it.
create table published (
	topic     text        not null,
	partition int         not null,
	"offset"  bigint      not null,
	digest    bytea       not null, -- of key and value
	sent_at   timestamptz not null,
	primary key (topic, partition)
);

-- The claim of the process that relays, and when it checked the log.
create table relay (
	one        boolean     primary key default true check (one),
	holder     uuid,
	until      timestamptz not null default '-infinity',
	checked_at timestamptz not null default '-infinity'
);
insert into relay default values;

-- Topics that have lost more than the rows that are kept: the state of all their records has to be published.
create table lost_topic (
	topic text        primary key,
	since timestamptz not null
);

-- +goose Down
drop table lost_topic, relay, published;
delete from outbox where sent_at is not null;
drop index outbox_sent, outbox_waiting;
alter table outbox drop column sent_at, drop column "offset", drop column partition, drop column hash, add primary key (seq);
