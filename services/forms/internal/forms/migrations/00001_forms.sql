-- +goose Up

create table form (
	id         bigint generated always as identity primary key,
	version    bigint      not null default 1,
	name       text        not null,
	status     text        not null check (status in ('draft', 'publish')),
	definition jsonb       not null,
	created_at timestamptz not null,
	updated_at timestamptz not null,
	deleted_at timestamptz
);

-- Every answer that any version of a form has asked for, in the order in which they came up: the columns
-- of an export. The key is the target, or consent: and the element's id.
create table form_column (
	form_id bigint not null references form,
	key     text   not null,
	seq     bigint generated always as identity,
	label   text   not null,
	primary key (form_id, key)
);

create table submission (
	id             uuid primary key,
	version        bigint      not null default 1,
	form_id        bigint      not null references form,
	status         text        not null check (status in ('received', 'spam')),
	-- What became of the contact; pending until contacts has said.
	result         text        not null check (result in ('created', 'updated', 'unchanged', 'pending', 'none')),
	contact_id     uuid,
	appointment_id uuid,
	values         jsonb       not null, -- as sent
	answers        jsonb       not null, -- for people to read: the lines of definition.Answers
	page           text        not null,
	email          text        not null, -- the visitor's, as address.Key has it; empty when not given
	spam_reason    text,
	error          text,
	-- The command that spam would have sent, for the day when somebody says that it is none.
	held           bytea,
	created_at     timestamptz not null
);
create index submission_newest on submission (created_at desc, id desc);
create index submission_form on submission (form_id, created_at desc, id desc) include (status);
create index submission_contact on submission (contact_id, created_at desc) where contact_id is not null;
create index submission_spam on submission (created_at) where status = 'spam';
create index submission_spam_email on submission (email) where status = 'spam';

-- Copies of what contacts owns.

create table contact (
	id              uuid primary key,
	version         bigint not null,
	name            text   not null,
	email           text   not null, -- as address.Key has it
	owner_user_id   bigint,
	organization_id uuid
);
create index contact_owner on contact (owner_user_id);
create index contact_organization on contact (organization_id) where organization_id is not null;

create table organization (
	id      uuid primary key,
	version bigint not null,
	name    text   not null
);

-- A contact that was merged away, and the one it is part of now.
create table contact_alias (
	id         uuid primary key,
	contact_id uuid not null
);

-- +goose Down
drop table contact_alias, organization, contact, submission, form_column, form;
