-- +goose Up
-- The times of a month in one value: of each, in the order of their begins, the seconds from the begin of the month (of UTC) to its begin, and its length, as
-- int4 in network byte order. To write and read two arrays took longer than to search. These are unused from now on.
alter table external_month alter column starts set default '{}', alter column ends set default '{}', add column times bytea not null default '';

-- +goose StatementBegin
create or replace function external_months() returns trigger language plpgsql as $$
begin
	delete from external_month m using (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		where m.calendar_id = c.calendar_id and m.month = c.month;
	insert into external_month (calendar_id, user_id, month, times)
		select t.calendar_id, t.user_id, c.month, string_agg(int4send(extract(epoch from t.starts_at - c.month::timestamp at time zone 'UTC')::int) || int4send(extract(epoch from t.ends_at - t.starts_at)::int), '' order by t.starts_at)
		from (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		join external_time t on t.calendar_id = c.calendar_id and t.starts_at >= c.month::timestamp at time zone 'UTC' and t.starts_at < (c.month + interval '1 month') at time zone 'UTC'
		group by t.calendar_id, t.user_id, c.month;
	return null;
end $$;
-- +goose StatementEnd

insert into external_month (calendar_id, user_id, month, times)
	select calendar_id, user_id, month, string_agg(int4send(extract(epoch from starts_at - month::timestamp at time zone 'UTC')::int) || int4send(extract(epoch from ends_at - starts_at)::int), '' order by starts_at)
	from (select calendar_id, user_id, starts_at, ends_at, date_trunc('month', starts_at at time zone 'UTC')::date as month from external_time) t group by calendar_id, user_id, month
	on conflict (calendar_id, month) do update set times = excluded.times;

-- +goose Down
delete from external_month;
alter table external_month drop column times, alter column starts drop default, alter column ends drop default;
-- +goose StatementBegin
create or replace function external_months() returns trigger language plpgsql as $$
begin
	delete from external_month m using (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		where m.calendar_id = c.calendar_id and m.month = c.month;
	insert into external_month (calendar_id, user_id, month, starts, ends)
		select t.calendar_id, t.user_id, c.month, array_agg(extract(epoch from t.starts_at)::bigint order by t.starts_at), array_agg(extract(epoch from t.ends_at)::bigint order by t.starts_at)
		from (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		join external_time t on t.calendar_id = c.calendar_id and t.starts_at >= c.month::timestamp at time zone 'UTC' and t.starts_at < (c.month + interval '1 month') at time zone 'UTC'
		group by t.calendar_id, t.user_id, c.month;
	return null;
end $$;
-- +goose StatementEnd
insert into external_month (calendar_id, user_id, month, starts, ends)
	select calendar_id, user_id, date_trunc('month', starts_at at time zone 'UTC')::date as month, array_agg(extract(epoch from starts_at)::bigint order by starts_at), array_agg(extract(epoch from ends_at)::bigint order by starts_at)
	from external_time group by calendar_id, user_id, month;
