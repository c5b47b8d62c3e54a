-- +goose Up
-- Ids of contacts that were merged away. Their topic says so for good, and again when the surviving contact is merged away too.
-- lingers now marks those whose topic does not say so yet.
alter table contact_alias add merged boolean not null default false;
update contact_alias set merged = lingers;

-- +goose Down
alter table contact_alias drop merged;
