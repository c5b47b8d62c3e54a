-- +goose Up
-- What decides which times are offered changes rarely and is asked for with every booking: replicas keep it, as long
-- as this number stays the same. One row.
create table catalog (
	one      boolean primary key default true check (one),
	revision bigint  not null
);
insert into catalog (revision) values (1);

-- +goose StatementBegin
create function catalog_changes() returns trigger language plpgsql as $$
begin
	update catalog set revision = revision + 1;
	return null;
end $$;
-- +goose StatementEnd
-- At the end of the transaction, so that nobody waits for anything else while holding the row.
create constraint trigger catalog_service after insert or update or delete on service deferrable initially deferred
	for each row execute function catalog_changes();
create constraint trigger catalog_skill after insert or update or delete on skill deferrable initially deferred
	for each row execute function catalog_changes();
create constraint trigger catalog_staff after insert or update or delete on staff deferrable initially deferred
	for each row execute function catalog_changes();
create constraint trigger catalog_exception after insert or update or delete on exception deferrable initially deferred
	for each row execute function catalog_changes();
create constraint trigger catalog_settings after insert or update or delete on settings deferrable initially deferred
	for each row execute function catalog_changes();
create constraint trigger catalog_form after insert or update or delete on form deferrable initially deferred
	for each row execute function catalog_changes();

-- +goose Down
drop trigger catalog_service on service;
drop trigger catalog_skill on skill;
drop trigger catalog_staff on staff;
drop trigger catalog_exception on exception;
drop trigger catalog_settings on settings;
drop trigger catalog_form on form;
drop function catalog_changes;
drop table catalog;
