-- +goose Up
-- How many rows of a table have each key, for the totals of long lists: changes that add up, so that no transaction waits for another.
-- A job adds them together; see DB.AddUpCounts.
create table row_count (
	counted text   not null, -- the table
	key     text[] not null,
	n       bigint not null
);

-- count_rows keeps row_count for a table. Its argument is the key of a row, as an expression of type text[]. Insert and delete name their
-- transition table changed; update names them changed and gone.
-- +goose StatementBegin
create function count_rows() returns trigger language plpgsql as $$
begin
	case tg_op
	when 'INSERT' then
		execute 'insert into row_count select $1, ' || tg_argv[0] || ', count(*) from changed group by 2' using tg_table_name;
	when 'DELETE' then
		execute 'insert into row_count select $1, ' || tg_argv[0] || ', -count(*) from changed group by 2' using tg_table_name;
	else
		execute 'insert into row_count select $1, key, sum(n) from (select ' || tg_argv[0] || ' as key, 1 as n from changed union all select '
			|| tg_argv[0] || ', -1 from gone) x group by key having sum(n) <> 0' using tg_table_name;
	end case;
	return null;
end $$;
-- +goose StatementEnd

-- +goose Down
drop function count_rows;
drop table row_count;
