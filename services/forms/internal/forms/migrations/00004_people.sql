-- +goose Up
-- An erasure finds a submission by the hashes of all addresses in it (null until a job has read an older row) and
-- by the id that contacts was asked for.
alter table submission add people bytea[], add requested_id uuid;
create index submission_people on submission using gin (people);
create index submission_requested on submission (requested_id) where contact_id is null;
create index submission_unread on submission (id) where people is null;
drop index submission_spam_email;

-- +goose Down
create index submission_spam_email on submission (email) where status = 'spam';
alter table submission drop people, drop requested_id;
