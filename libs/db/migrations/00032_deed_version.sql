-- +goose Up
-- Nearly every call changes one record: its versions stand in the row of the call. deed_record has those of a call that changed several.
alter table deed
	add column record text not null default '',
	add column was bigint not null default 0,
	add column became bigint not null default 0;

-- +goose Down
alter table deed drop column record, drop column was, drop column became;
