-- +goose Up
-- As a function in SQL it was parsed and planned anew by each statement that writes a contact or an organization: the server puts it in no place of
-- its own call, because unaccent is not immutable by its declaration.
-- +goose StatementBegin
create or replace function fold(text) returns text language plpgsql immutable parallel safe strict as $$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, $1));
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function fold(text) returns text language sql immutable parallel safe strict
	as $$ select lower(ext.unaccent('ext.unaccent'::regdictionary, $1)) $$;
-- +goose StatementEnd
