-- +goose Up
-- Wrong codes of the second factor, and until when no further one is compared.
alter table person
	add column code_failures int not null default 0,
	add column code_after    timestamptz;

-- What a person needs to recognise a session, and when its password was last typed.
alter table session
	add column id          uuid        not null default gen_random_uuid(),
	add column password_at timestamptz not null default '-infinity',
	add column browser     text        not null default '',
	add column address     text        not null default '';
create unique index session_id on session (id);

-- Browsers that a person has signed in with. One that is not here yet is worth a mail.
create table browser (
	person_id bigint      not null references person on delete cascade,
	hash      bytea       not null, -- SHA-256 of the cookie's token
	used_at   timestamptz not null,
	primary key (person_id, hash)
);
create index browser_used on browser (used_at);

-- A key may end by itself, and may be limited to some of its owner's permissions. Null means neither.
alter table application_password
	add column expires_at   timestamptz,
	add column permissions  text[],
	add column last_used_at timestamptz,
	add column last_address text not null default '';

-- Requests for a new password that a worker handles: the answer takes as long for an address that nobody here has.
create table password_request (
	id         bigint generated always as identity primary key,
	email      text        not null,
	created_at timestamptz not null
);

-- From where somebody acted, and for whom a mail went out.
alter table audit add column address text not null default '';
alter table mail add column user_id bigint;

-- +goose Down
alter table mail drop column user_id;
alter table audit drop column address;
drop table password_request;
alter table application_password drop column last_address, drop column last_used_at, drop column permissions, drop column expires_at;
drop table browser;
drop index session_id;
alter table session drop column address, drop column browser, drop column password_at, drop column id;
alter table person drop column code_after, drop column code_failures;
