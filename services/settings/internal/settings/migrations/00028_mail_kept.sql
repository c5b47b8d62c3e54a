-- +goose Up
-- What a mail said, without what its links open (proto.Mail), null for mails about accounts and of before; the hashes of the links' tokens in
-- their order; whether it replaces what was said before; and whom it names, by ids of records and keyed hashes of addresses.
alter table mail add column kept bytea, add column tokens bytea[] not null default '{}', add column replaces boolean not null default false,
	add column named_ids uuid[], add column named bytea[];

-- +goose Down
alter table mail drop column kept, drop column tokens, drop column replaces, drop column named_ids, drop column named;
