-- +goose Up
-- Why a page does not show the widget, see PageEmbedded.
alter table embedding add column refused text not null default '';

-- +goose Down
alter table embedding drop column refused;
