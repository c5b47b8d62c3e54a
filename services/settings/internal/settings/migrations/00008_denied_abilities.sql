-- +goose Up
-- Abilities that the person took away from an assistant, whatever its permissions.
alter table connection add denied text[] not null default '{}';

-- +goose Down
alter table connection drop denied;
