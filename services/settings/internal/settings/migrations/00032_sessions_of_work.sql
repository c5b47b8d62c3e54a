-- +goose Up
alter table audit add credential text, add undoes uuid;

-- +goose Down
alter table audit drop credential, drop undoes;
