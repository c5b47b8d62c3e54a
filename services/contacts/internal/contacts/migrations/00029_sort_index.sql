-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
-- What lists are sorted by, in the words of their queries: two hundred characters of a name, since an index has no room for more in all scripts.
drop index concurrently if exists contact_name;
create index concurrently contact_name on contact ((left(fold(coalesce(nullif(btrim(first_name || ' ' || last_name), ''), nullif(email, ''), phone)), 200) collate "C"), id);
drop index concurrently if exists contact_active;
create index concurrently contact_active on contact ((coalesce(last_activity, '0001-01-01 00:00:00+00')) desc, id desc);
drop index concurrently if exists organization_by_name;
create index concurrently organization_by_name on organization ((left(fold(name), 200) collate "C"), id);
drop index concurrently if exists organization_active;
create index concurrently organization_active on organization ((coalesce(last_activity, '0001-01-01 00:00:00+00')) desc, id desc);

-- +goose Down
drop index organization_active;
drop index organization_by_name;
drop index contact_active;
drop index contact_name;
