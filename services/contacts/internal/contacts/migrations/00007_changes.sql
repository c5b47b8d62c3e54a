-- +goose Up
-- The database stamps updated_at as a row is written, for lists by updated_since: see Tx.ChangesUntil.
create trigger contact_stamp before insert or update of updated_at on contact for each row execute function stamp_updated_at();
create trigger organization_stamp before insert or update of updated_at on organization for each row execute function stamp_updated_at();

-- +goose Down
drop trigger contact_stamp on contact;
drop trigger organization_stamp on organization;
