-- +goose Up

-- next_number is the default of ids that people see, in the place of an identity. A sequence does not roll back, so a rehearsal (see
-- DB.Rehearse) takes the numbers that would come next and leaves the sequence as it is. Two of one transaction are told apart by a count.
-- +goose StatementBegin
create function next_number(of regclass) returns bigint language plpgsql as $$
declare
	taken text := nullif(current_setting('frontdesk.rehearsal', true), '');
begin
	if taken is null then
		return nextval(of);
	end if;
	perform set_config('frontdesk.rehearsal', (taken::integer + 1)::text, true);
	return coalesce(pg_sequence_last_value(of), 0) + 1 + taken::integer;
end $$;
-- +goose StatementEnd

-- +goose Down
drop function next_number(regclass);
