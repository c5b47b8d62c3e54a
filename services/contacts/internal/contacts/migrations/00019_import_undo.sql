-- +goose Up
-- import_error_row takes its place.
alter table import_error drop constraint import_error_pkey;
-- What an import did with a contact, so that it can be undone for thirty days: entries is how many it wrote into the contact's timeline, changes what
-- it changed of one that was there ({field: {old, new}}), organization_id the organization that it made the primary one, former_id the one before.
create table import_contact (
	import_id       uuid    not null references import on delete cascade,
	contact_id      uuid    not null,
	created         boolean not null,
	entries         int     not null,
	changes         jsonb   not null default '{}',
	organization_id uuid,
	former_id       uuid,
	-- Why an undo left something of it; empty if it did not, or was not there yet.
	kept            text    not null default '',
	primary key (import_id, contact_id)
);
-- An erasure asks by contact.
create index import_contact_contact on import_contact (contact_id);
-- undone_to is the contact that an undo came to.
alter table import add removed int not null default 0, add restored int not null default 0, add kept int not null default 0,
	add undo_actor jsonb, add undone_to uuid,
	drop constraint import_status_check,
	add constraint import_status_check check (status in ('uploaded', 'queued', 'running', 'checked', 'completed', 'failed', 'undoing', 'undone')) not valid;

-- +goose Down
delete from import_error where n > 0 or dropped = 'cell';
alter table import_error add primary key (import_id, row);
update import set status = 'uploaded' where status = 'checked';
update import set status = 'completed' where status in ('undoing', 'undone');
alter table import drop removed, drop restored, drop kept, drop undo_actor, drop undone_to,
	drop constraint import_status_check, add constraint import_status_check check (status in ('uploaded', 'queued', 'running', 'completed', 'failed'));
drop table import_contact;
