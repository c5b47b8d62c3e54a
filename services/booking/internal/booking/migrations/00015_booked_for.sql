-- +goose Up
-- Whom a visitor booked for, where the contact with the address has another name.
alter table appointment add column booked_for text not null default '';

-- unaccent reads its rules from a dictionary, and so is not immutable by its declaration.
-- +goose StatementBegin
create function fold(text) returns text language plpgsql immutable parallel safe strict as $$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, $1));
end $$;
-- +goose StatementEnd

-- +goose Down
drop function fold;
alter table appointment drop column booked_for;
