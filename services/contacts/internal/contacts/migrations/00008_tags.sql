-- +goose Up
-- Two names of tags are the same if their keys are: letters without case and accents, any separator between words,
-- all other characters as they are. A+ and A- are two tags. Slugs have no such characters; the second of two gets a number.
-- +goose StatementBegin
create function tag_key(name text) returns text language sql immutable parallel safe strict
	as $$ select regexp_replace(fold(btrim(name)), '(?<=[[:alnum:]])[\s_-]+(?=[[:alnum:]])', ' ', 'g') $$;
-- +goose StatementEnd
alter table tag add key text;
update tag set key = tag_key(name);
update tag t set key = key || ' ' || slug where exists (select from tag o where o.key = t.key and o.slug < t.slug);
alter table tag alter key set not null, add constraint tag_key unique (key);

-- Organizations whose people are still to be published, from the contact behind after on. A worker does it in slices.
create table organization_news (
	organization_id uuid        primary key references organization on delete cascade,
	after           uuid        not null,
	actor           jsonb       not null -- who changed the organization
);

-- +goose Down
drop table organization_news;
alter table tag drop key;
drop function tag_key;
