-- +goose Up
-- Programs that have registered themselves as OAuth clients. One with which nobody ever connects is deleted after a day.
create table assistant (
	id            uuid        primary key,
	name          text        not null, -- as it calls itself: nobody has checked it
	redirect_uris text[]      not null,
	created_at    timestamptz not null,
	used_at       timestamptz           -- when somebody last connected with it
);
create index assistant_age on assistant (created_at);

-- Assistants that people have connected: the consent, the code that stands for it, and the family of tokens that followed.
create table connection (
	id              uuid        primary key,
	person_id       bigint      not null references person on delete cascade,
	assistant_id    uuid        not null references assistant,
	name            text        not null,
	permissions     text[]      not null,
	redirect_uri    text        not null,
	code_hash       bytea       not null unique, -- SHA-256
	code_challenge  text        not null,        -- base64url of the SHA-256 of the verifier
	code_expires_at timestamptz not null,
	family_hash     bytea       unique,          -- SHA-256 of the first half of all refresh tokens; null until the code was used
	refresh_hash    bytea,                       -- SHA-256 of the second half of the one in force
	created_at      timestamptz not null,
	expires_at      timestamptz not null,        -- each refresh moves it
	last_used_at    timestamptz,
	last_address    text        not null default '',
	check ((family_hash is null) = (refresh_hash is null))
);
create index connection_person on connection (person_id);
create index connection_assistant on connection (assistant_id);
create index connection_expires on connection (expires_at);

-- Access tokens. Every service has a copy of them, on settings.identity.
create table access_token (
	id            uuid        primary key,
	connection_id uuid        not null references connection on delete cascade,
	hash          bytea       not null unique, -- SHA-256
	expires_at    timestamptz not null
);
create index access_token_connection on access_token (connection_id);
create index access_token_expires on access_token (expires_at);

-- +goose Down
drop table access_token, connection, assistant;
