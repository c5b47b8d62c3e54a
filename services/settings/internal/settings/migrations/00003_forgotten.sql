-- +goose Up
-- libs/db remembers who was erased.
insert into forgotten_person (called, at) select person, at + interval '1 second' from forgotten on conflict do nothing;
drop table forgotten;

-- +goose Down
create table forgotten (
	person bytea       primary key,
	at     timestamptz not null
);
