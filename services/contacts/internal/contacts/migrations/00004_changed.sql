-- +goose Up
-- A contact to which something happened stands in the copies as it did: only what they hold counts as a change. The
-- update then touches no index.
drop trigger contact_changes on contact;
create trigger contact_changes before update of first_name, last_name, email, phone, status, marketing, source, owner_user_id, tags, created_at, deleted_at
	on contact for each row execute function contact_changes();

-- +goose Down
drop trigger contact_changes on contact;
create trigger contact_changes before update on contact for each row execute function contact_changes();
