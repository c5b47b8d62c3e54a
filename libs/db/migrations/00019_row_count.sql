-- +goose Up
-- How many rows of a table have each key, for the totals of long lists: changes that add up, so that no transaction waits for another.
-- A job adds them together; see DB.AddUpCounts.
create table row_count (
	counted text   not null, -- the table
	key     text[] not null,
	n       bigint not null
);

-- count_rows makes the triggers that keep row_count for a table. key is the key of a row, as an expression of type text[]. Each table has a
-- function of its own, named table_counted, because the statements in it are planned once; key is its comment.
-- +goose StatementBegin
create function count_rows(counted text, key text) returns void language plpgsql as $$
begin
	execute format($f$
		create function %1$I() returns trigger language plpgsql as $t$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select %2$L, %3$s, count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select %2$L, %3$s, -count(*) from gone group by 2;
			else
				insert into row_count select %2$L, key, sum(n) from (select %3$s as key, 1 as n from changed union all select %3$s, -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $t$;
		comment on function %1$I() is %3$L;
		create trigger %4$I after insert on %2$I referencing new table as changed for each statement execute function %1$I();
		create trigger %5$I after delete on %2$I referencing old table as gone for each statement execute function %1$I();
		create trigger %6$I after update on %2$I referencing old table as gone new table as changed for each statement execute function %1$I();
		$f$, counted || '_counted', counted, key, counted || '_counted_insert', counted || '_counted_delete', counted || '_counted_update');
end $$;
-- +goose StatementEnd

-- +goose Down
drop function count_rows;
drop table row_count;
