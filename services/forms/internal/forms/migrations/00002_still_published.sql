-- +goose Up
-- What was worked out with a form as a replica remembers it goes in only if that is still the published one:
-- otherwise the whole transaction runs again.
-- +goose StatementBegin
create function still_published(form_id bigint, form_version bigint) returns boolean language plpgsql stable as $$
begin
	if exists (select from form where id = form_id and version = form_version and status = 'publish' and deleted_at is null) then
		return true;
	end if;
	raise exception 'the form has changed' using errcode = 'serialization_failure';
end $$;
-- +goose StatementEnd

-- +goose Down
drop function still_published;
