-- +goose Up
-- Every name that means a tag, by its key: the one it has and those it had. Whoever tags a contact locks the row of tag that
-- the name leads to, and reads the name there.
create table tag_name (
	key  text primary key,
	slug text not null references tag on delete cascade deferrable initially deferred
);
create index tag_name_slug on tag_name (slug);
insert into tag_name (key, slug) select key, slug from tag;
-- A tag that is being deleted: no contact gets it any more.
alter table tag drop key, add deleting boolean not null default false;

-- Names that contacts still have: a worker gives them the name of the tag, in slices, or none while it is being deleted.
create table tag_change (
	name          text        primary key,
	slug          text        not null references tag on delete cascade,
	actor         jsonb       not null, -- who changed the tag
	contacts_left int         not null,
	created_at    timestamptz not null
);
create index tag_change_slug on tag_change (slug);

-- +goose Down
drop table tag_change;
alter table tag add key text, drop deleting;
update tag t set key = tag_key(t.name);
alter table tag alter key set not null, add constraint tag_key unique (key);
drop table tag_name;
