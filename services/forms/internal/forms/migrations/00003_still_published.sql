-- +goose Up
-- libs/db checks assumptions now.
drop function still_published;

-- +goose Down
-- +goose StatementBegin
create function still_published(form_id bigint, form_version bigint) returns boolean language plpgsql stable as $$
begin
	return exists (select from form where id = form_id and version = form_version and status = 'publish' and deleted_at is null);
end $$;
-- +goose StatementEnd
