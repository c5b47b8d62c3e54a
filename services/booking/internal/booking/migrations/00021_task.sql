-- +goose Up
-- Who owns open tasks of contacts: removing a person has to hand them over.
create table task (
	id            uuid   primary key,
	version       bigint not null,
	owner_user_id bigint
);
create index task_owner on task (owner_user_id) where owner_user_id is not null;

-- +goose Down
drop table task;
