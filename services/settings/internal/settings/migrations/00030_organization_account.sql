-- +goose Up
-- The account at the organization's provider by which a person signs in.
alter table person
	add column issuer text,
	add column subject text,
	add constraint person_account check ((issuer is null) = (subject is null)) not valid;

-- Where a session was begun at the provider: under which issuer, and as which session there.
alter table session
	add column issuer text,
	add column sid text;

-- Browsers that were sent to the provider and have not come back.
create table provider_request (
	state_hash   bytea       primary key,
	browser_hash bytea       not null,
	nonce        text        not null,
	verifier     text        not null,
	next         text        not null,
	home         text        not null, -- the address of the site at which the browser is
	channel      text        not null,
	confirms     bytea,      -- the hash of the session whose person signs in anew; null for a sign-in
	created_at   timestamptz not null
);
create index provider_request_age on provider_request (created_at);

-- Logout tokens that were taken, so that none counts twice.
create table provider_logout (
	hash       bytea       primary key,
	expires_at timestamptz not null
);
create index provider_logout_age on provider_logout (expires_at);

-- +goose Down
drop table provider_request, provider_logout;
alter table session drop column issuer, drop column sid;
alter table person drop constraint person_account, drop column issuer, drop column subject;
