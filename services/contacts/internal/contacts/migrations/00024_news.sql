-- +goose Up
-- When each person last looked at what is new; when a record became known here, who made an appointment, and whether it began as a request. Null for
-- what the copies had before, which is no news.
create table news_seen (
	user_id bigint primary key,
	seen_at timestamptz not null
);
alter table appointment add column arrived_at timestamptz, add column made_by bigint, add column requested boolean not null default false;
alter table submission add column arrived_at timestamptz;

-- +goose Down
alter table submission drop column arrived_at;
alter table appointment drop column arrived_at, drop column made_by, drop column requested;
drop table news_seen;
