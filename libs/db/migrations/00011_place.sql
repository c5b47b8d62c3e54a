-- +goose Up
-- anchor is the hash of the message before next: a log in which another message stands there is not the one that was read.
-- current_at is when the position was last known to be at the end of the log, or the time of the last message before it.
alter table position add anchor uuid, add current_at timestamptz not null default now();

-- Since when the service follows a topic: what was published before is history. The row without a topic says when the
-- schema was made.
create table following (
	topic text        primary key,
	since timestamptz not null
);
insert into following (topic, since) select distinct topic, timestamptz '-infinity' from position;
insert into following (topic, since) select '', date_trunc('second', now()); -- times of events have no fractions

-- +goose Down
drop table following;
alter table position drop anchor, drop current_at;
