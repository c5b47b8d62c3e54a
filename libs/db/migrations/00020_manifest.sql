-- +goose Up
-- What the versions of the service have announced whose replicas run or ran lately, without their address; see libs/app/manifest.go.
create table manifest (
	sum     bytea       primary key, -- SHA-256 of body
	body    bytea       not null,
	number  int[]       not null,    -- of the version
	made_at timestamptz not null default now(),
	seen_at timestamptz not null default now()
);

-- +goose Down
drop table manifest;
