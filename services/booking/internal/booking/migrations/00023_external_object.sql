-- +goose Up
-- What the objects of a calendar on a server take, by a key that stands for their address: the seconds of begin and end of each time.
create table external_object (
	calendar_id uuid     not null references external_calendar on delete cascade,
	key         text     not null,
	etag        text     not null,
	events      integer  not null,
	problem     text     not null,
	spans       bigint[] not null,
	primary key (calendar_id, key)
);

-- +goose Down
drop table external_object;
