-- +goose Up
-- A cell that cannot be read costs the cell: a row may have several errors, counted by n, and is imported all the same. dropped is cell or row.
alter table import_error add n int not null default 0, add dropped text not null default 'row';
-- header is the number of the row with the names, 0 without one; separator is the one that was found.
alter table import add cells int not null default 0, add header int not null default 1, add separator text not null default '';

-- +goose Down
alter table import_error drop n, drop dropped;
alter table import drop cells, drop header, drop separator;
