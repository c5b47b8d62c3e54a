-- +goose Up
-- The hashes of the addresses in a body, null in one from before: so a body about somebody else that names an erased person
-- is found as well.
alter table message add people bytea[];
alter table message alter people set default '{}';
create index message_people on message using gin (people);
create index message_unread on message (id) where people is null;

-- +goose Down
alter table message drop people;
