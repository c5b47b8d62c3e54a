-- +goose Up
-- Keyed hashes of what a visitor was called by and of the addresses of mails: by them a person who is erased is found.
alter table audit add person bytea;
create index audit_person on audit (person) where person is not null;
alter table mail add person bytea;
create index mail_person on mail (person);
-- What comes late of somebody who was erased at that time.
create table forgotten (
	person bytea       primary key,
	at     timestamptz not null
);

-- +goose Down
drop table forgotten;
alter table mail drop person;
alter table audit drop person;
