-- +goose Up
-- Ends a transaction whose assumption does not hold; the work then runs again without the assumption. This is an
-- ordinary event, so the server's log must not show an ERROR. The role can hide it if it was granted SET ON PARAMETER
-- log_min_messages; provisioning grants that where it can.
-- +goose StatementBegin
create function wrong_assumption(assumption text) returns boolean language plpgsql as $$
begin
	raise exception '%', assumption using errcode = 'FD001';
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$
begin
	alter function wrong_assumption(text) set log_min_messages = 'log';
exception when insufficient_privilege then
	null; -- the log shows a line for each
end $$;
-- +goose StatementEnd
create function assume(assumption text, holds boolean) returns boolean language sql as $$
	select case when holds then true else wrong_assumption(assumption) end
$$;

-- The records (by id) and people (by the keyed hash of an address) that a stored answer names: it is deleted when one of
-- them is erased.
alter table idempotency add column about uuid[] not null default '{}', add column people bytea[] not null default '{}';

-- +goose Down
alter table idempotency drop column about, drop column people;
drop function assume;
drop function wrong_assumption;
