-- +goose Up
-- Who does what one replica does at a time, and until when no other one may. Losing leases in a crash frees them, so they are
-- not logged.
create unlogged table work_lease (
	name       text        primary key,
	holder     uuid        not null,
	held_until timestamptz not null
);

-- +goose Down
drop table work_lease;
