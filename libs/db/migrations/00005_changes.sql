-- +goose Up
-- Stamps a row with the second in which it is written, by the clock of the database; see Tx.ChangesUntil.
-- +goose StatementBegin
create function stamp_updated_at() returns trigger language plpgsql as $$
begin
	new.updated_at := date_trunc('second', clock_timestamp());
	return new;
end $$;
-- +goose StatementEnd

-- +goose Down
drop function stamp_updated_at;
