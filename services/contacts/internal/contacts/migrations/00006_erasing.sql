-- +goose Up
-- The hashes of addresses that a submission or the client of an appointment has: by them it belongs to a person without a
-- contact.
alter table submission add people bytea[] not null default '{}';
create index submission_people on submission using gin (people) where contact_id is null;
alter table appointment add people bytea[] not null default '{}';
create index appointment_people on appointment using gin (people);

-- Visitors stand by name in the timelines of organizations that they named.
create index activity_visitor on activity (lower(actor_label)) where organization_id is not null and user_id is null and actor_label <> '';

-- The people who left the team and still own records. A worker hands these over in slices and deletes the row at the end.
create table hand_over (
	from_user bigint      primary key,
	to_user   bigint,               -- null: nobody
	actor     jsonb       not null, -- who removed the person
	created_at timestamptz not null
);

-- +goose Down
drop table hand_over;
drop index activity_visitor;
alter table appointment drop people;
alter table submission drop people;
