-- +goose Up
-- Lists as people want to see them again. A shared one outlives its owner, a private one does not.
create table saved_view (
	id uuid primary key,
	entity text not null check (entity in ('contacts', 'organizations', 'appointments', 'submissions')),
	name text not null,
	query jsonb not null,
	columns text[] not null,
	shared boolean not null,
	position integer not null,
	user_id bigint references person (id) on delete cascade,
	version bigint not null default 1,
	created_at timestamptz not null,
	updated_at timestamptz not null,
	check (shared or user_id is not null)
);
create index saved_view_user on saved_view (user_id);

-- +goose Down
drop table saved_view;
