-- +goose Up
-- Pictures of the site, such as its logo, as this service has encoded them: no byte of what was sent. They never change.
create table media (
	id         bigint generated always as identity primary key,
	name       text        not null,
	kind       text        not null check (kind in ('png', 'jpg')),
	hash       text        not null, -- of body, in the picture's address
	width      int         not null,
	height     int         not null,
	body       bytea       not null,
	created_at timestamptz not null
);

-- +goose Down
drop table media;
