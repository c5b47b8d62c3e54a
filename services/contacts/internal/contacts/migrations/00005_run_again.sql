-- +goose Up
-- libs/db checks assumptions now.
drop function run_again;

-- +goose Down
-- +goose StatementBegin
create function run_again(why text) returns boolean language plpgsql as $$
begin
	raise exception '%', why using errcode = 'serialization_failure';
end $$;
-- +goose StatementEnd
