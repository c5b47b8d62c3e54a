-- +goose Up
-- Joiners (U+200C, U+200D) belong to the spelling of names and stay in them; who searches may leave them out.
-- +goose StatementBegin
create or replace function fold(text) returns text language plpgsql immutable parallel safe strict as $$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, translate($1, U&'\200c\200d', '')));
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function fold(text) returns text language plpgsql immutable parallel safe strict as $$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, $1));
end $$;
-- +goose StatementEnd
