-- +goose Up

-- People see these numbers, so a rehearsal must not use them up: see next_number.
-- +goose StatementBegin
do $$
declare
	t    text;
	last bigint;
begin
	foreach t in array array['form'] loop
		last := pg_sequence_last_value(pg_get_serial_sequence(t, 'id')::regclass);
		execute format('alter table %I alter column id drop identity', t);
		execute format('create sequence %I owned by %I.id', t || '_id_seq', t);
		perform setval(t || '_id_seq', coalesce(last, 1), last is not null);
		execute format('alter table %I alter column id set default next_number(%L)', t, t || '_id_seq');
	end loop;
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
do $$
declare
	t    text;
	last bigint;
begin
	foreach t in array array['form'] loop
		last := pg_sequence_last_value((t || '_id_seq')::regclass);
		execute format('alter table %I alter column id drop default', t);
		execute format('drop sequence %I', t || '_id_seq');
		execute format('alter table %I alter column id add generated always as identity', t);
		perform setval(pg_get_serial_sequence(t, 'id'), coalesce(last, 1), last is not null);
	end loop;
end $$;
-- +goose StatementEnd
