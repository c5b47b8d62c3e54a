-- +goose Up
-- How commands to make a contact were answered, by the record that asked: one that comes again gets the same answer.
create table answered (
	origin      text        not null,
	origin_id   text        not null,
	contact_id  uuid, -- null when there is none
	result      text        not null,
	answered_at timestamptz not null,
	primary key (origin, origin_id)
);
create index answered_contact on answered (contact_id);
create index answered_age on answered (answered_at);

-- +goose Down
drop table answered;
