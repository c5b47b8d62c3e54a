-- +goose Up
-- Every event that can be subscribed is kept in message, whether a webhook subscribed it or not: GET /events lists them in the
-- order of (tx, seq). tx is the number of the transaction that stored the event, above offset_by: all events of a number below
-- that of every running transaction are committed, so a reader up to there misses none.
create table feed (
	one       boolean primary key default true check (one),
	offset_by bigint  not null default 0, -- rises when the data goes back to a backup: another server may count anew
	gone      bigint  not null default 0  -- the highest tx of an event that was deleted for its age
);
insert into feed default values;

-- +goose StatementBegin
create function feed_tx(number xid8) returns bigint language sql stable as $$
	select offset_by + number::text::bigint from feed
$$;
-- +goose StatementEnd

alter table message add tx bigint not null default 0, add seq bigint generated always as identity,
	add occurred_at timestamptz;
update message set occurred_at = coalesce((payload::json ->> 'occurred_at')::timestamptz, created_at);
alter table message alter occurred_at set not null, alter occurred_at set default now(),
	alter tx set default feed_tx(pg_current_xact_id());
create index message_feed on message (tx, seq);

-- +goose Down
alter table message drop tx, drop seq, drop occurred_at;
drop function feed_tx;
drop table feed;
