-- +goose Up
-- A program may name itself by the address of its description (url), which was last read at read_at; url is null for one that has registered itself.
alter table assistant add url text, add read_at timestamptz;
-- What an access token may do, which its assistant may have narrowed; null for all that the connection may.
alter table access_token add permissions text[];
-- The person has agreed to reading only.
alter table connection add read_only boolean not null default false;

-- +goose Down
alter table connection drop read_only;
alter table access_token drop permissions;
alter table assistant drop url, drop read_at;
