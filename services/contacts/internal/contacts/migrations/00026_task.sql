-- +goose Up
-- What the team has to do. place is the task's place in lists: open ones by the day they are due, those without one behind all days, then done ones, the
-- newest first. assigned_by gave it to its owner, at assigned_at; null for nobody of the team.
create table task (
	id              uuid        primary key,
	version         bigint      not null,
	title           text        not null,
	body            text        not null default '',
	due_on          date,
	owner_user_id   bigint,
	contact_id      uuid        references contact on delete cascade,
	organization_id uuid        references organization on delete set null,
	appointment_id  uuid,
	done_at         timestamptz,
	assigned_by     bigint,
	assigned_at     timestamptz,
	created_at      timestamptz not null,
	updated_at      timestamptz not null,
	place           bigint      not null generated always as (case when done_at is not null then 1000000000000 - extract(epoch from done_at at time zone 'UTC')::bigint
		when due_on is null then 10000000 else due_on - date '1970-01-01' end) stored
);
create index task_order on task (place, id);
create index task_owner on task (owner_user_id, place, id) where owner_user_id is not null;
create index task_contact on task (contact_id, place, id) where contact_id is not null;
create index task_organization on task (organization_id, place, id) where organization_id is not null;

-- +goose Down
delete from activity where type = 'task';
drop table task;
