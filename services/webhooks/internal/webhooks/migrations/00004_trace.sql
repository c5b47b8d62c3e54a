-- +goose Up
-- The W3C trace context of the change, which goes on with the requests that announce it.
alter table message add column traceparent text not null default '';

-- +goose Down
alter table message drop column traceparent;
