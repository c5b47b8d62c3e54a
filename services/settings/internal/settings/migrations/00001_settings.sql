-- +goose Up
-- Roles and what they may do. site_admin is fixed: it holds every permission there is.
create table role (
	name         text   primary key,
	label        text   not null,
	capabilities text[] not null,
	visibility   text   not null check (visibility in ('all', 'own')),
	fixed        boolean not null default false,
	position     int    not null,
	version      bigint not null default 1
);

-- Users. One without a password was invited and has not chosen one yet.
create table person (
	id           bigint generated always as identity primary key,
	login        text   not null,
	name         text   not null,
	email        text   not null,
	roles        text[] not null,
	password     text,                       -- argon2id
	totp         bytea,                      -- sealed secret of the second factor in force
	totp_step    bigint not null default 0,  -- the last step that was used: none counts twice
	totp_pending bytea,                      -- sealed secret that waits to be confirmed
	version      bigint not null default 1,
	created_at   timestamptz not null,
	updated_at   timestamptz not null
);
create unique index person_login on person (lower(login));
create unique index person_email on person (lower(email));

create table recovery_code (
	person_id bigint not null references person on delete cascade,
	hash      bytea  not null, -- SHA-256
	primary key (person_id, hash)
);

create table session (
	hash       bytea       primary key, -- SHA-256 of the cookie's token
	person_id  bigint      not null references person on delete cascade,
	channel    text        not null,
	two_factor boolean     not null,
	created_at timestamptz not null,
	seen_at    timestamptz not null,
	expires_at timestamptz not null
);
create index session_person on session (person_id);
create index session_seen on session (seen_at);

create table application_password (
	id         uuid        primary key,
	person_id  bigint      not null references person on delete cascade,
	name       text        not null,
	assistant  boolean     not null,
	hash       bytea       not null unique, -- SHA-256 of the password without spaces
	created_at timestamptz not null
);
create index application_password_person on application_password (person_id);

-- Links in mails. What is used, replaced or revoked stays for a while, to be told from what never was.
create table link (
	id         uuid        primary key,
	hash       bytea       not null unique, -- SHA-256 of the token
	kind       text        not null check (kind in ('invitation', 'password', 'telemetry')),
	person_id  bigint      references person on delete set null,
	role       text        not null default '',
	created_at timestamptz not null,
	expires_at timestamptz not null,
	ended_at   timestamptz
);
create index link_person on link (person_id, kind) where ended_at is null;
create index link_expires on link (expires_at);

-- The site's settings, one document per page of them, and the apps.
create table document (
	key        text        primary key,
	doc        jsonb       not null,
	version    bigint      not null default 1,
	updated_at timestamptz not null
);

create table page (
	id         bigint generated always as identity primary key,
	title      text        not null,
	slug       text        not null,
	status     text        not null check (status in ('draft', 'publish')),
	content    text        not null,
	version    bigint      not null default 1,
	created_at timestamptz not null,
	updated_at timestamptz not null
);
create unique index page_slug on page (slug);

-- The audit log of all services; the id is that of the event which told of it.
create table audit (
	id          uuid        primary key,
	action      text        not null,
	channel     text        not null,
	actor_label text        not null,
	user_id     bigint,
	record_type text        not null,
	record_id   text        not null,
	outcome     text        not null,
	created_at  timestamptz not null
);
create index audit_newest on audit (created_at desc, id desc);
create index audit_action on audit (action, created_at desc, id desc);
create index audit_channel on audit (channel, created_at desc, id desc);

-- Outgoing mail. A row is claimed by moving its next attempt behind the lease.
create table mail (
	id         uuid        primary key,
	message    bytea,                  -- proto.Mail; null once it was sent or given up for good
	recipient  text        not null,
	subject    text        not null,
	kind       text        not null,
	status     text        not null check (status in ('queued', 'retrying', 'sent', 'failed')),
	attempts   int         not null default 0,
	next_at    timestamptz not null,
	leased_by  uuid,
	error      text        not null default '',
	created_at timestamptz not null,
	sent_at    timestamptz
);
create index mail_due on mail (next_at) where status in ('queued', 'retrying');
create index mail_newest on mail (created_at desc, id desc);

-- +goose Down
drop table mail, audit, page, document, link, application_password, session, recovery_code, person, role;
