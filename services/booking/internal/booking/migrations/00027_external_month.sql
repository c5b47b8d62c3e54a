-- +goose Up
-- The times of external_time, a row for each calendar and month (of UTC) that they begin in, as seconds since 1970: a search for free times reads a few rows of
-- these instead of hundreds. Triggers keep it, whichever code or version changes the times.
create table external_month (
	calendar_id uuid     not null references external_calendar on delete cascade,
	user_id     bigint   not null,
	month       date     not null,
	starts      bigint[] not null,
	ends        bigint[] not null,
	primary key (calendar_id, month)
);
create index external_month_user on external_month (user_id, month);

-- +goose StatementBegin
create function external_months() returns trigger language plpgsql as $$
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
create trigger times_come after insert on external_time referencing new table as changed for each statement execute function external_months();
create trigger times_go after delete on external_time referencing old table as changed for each statement execute function external_months();

insert into external_month (calendar_id, user_id, month, starts, ends)
	select calendar_id, user_id, date_trunc('month', starts_at at time zone 'UTC')::date as month, array_agg(extract(epoch from starts_at)::bigint order by starts_at), array_agg(extract(epoch from ends_at)::bigint order by starts_at)
	from external_time group by calendar_id, user_id, month;

-- +goose Down
drop trigger times_come on external_time;
drop trigger times_go on external_time;
drop function external_months();
drop table external_month;
