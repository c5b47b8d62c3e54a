-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists person_subject;
create unique index concurrently person_subject on person (issuer, subject);
drop index concurrently if exists session_sid;
create index concurrently session_sid on session (issuer, sid) where issuer is not null;
alter table person validate constraint person_account;

-- +goose Down
drop index person_subject, session_sid;
