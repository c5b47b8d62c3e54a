-- +goose Up
-- Keys that a person's devices hold, as the library webauthn keeps them.
create table passkey (
	id           uuid        primary key,
	person_id    bigint      not null references person on delete cascade,
	name         text        not null,
	credential_id bytea      not null unique,
	credential   jsonb       not null,
	created_at   timestamptz not null,
	last_used_at timestamptz
);
create index passkey_person on passkey (person_id);

-- Challenges that were answered: each counts once. Kept until they would have ended anyway.
create table passkey_challenge (
	hash       bytea       primary key, -- SHA-256
	expires_at timestamptz not null
);
create index passkey_challenge_age on passkey_challenge (expires_at);

-- +goose Down
drop table passkey_challenge, passkey;
