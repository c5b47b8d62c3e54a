-- +goose Up
-- Makes a transaction that hoped for the common case run again, with a closer look.
-- +goose StatementBegin
create function run_again(why text) returns boolean language plpgsql as $$
begin
	raise exception '%', why using errcode = 'serialization_failure';
end $$;
-- +goose StatementEnd

-- +goose Down
drop function run_again;
