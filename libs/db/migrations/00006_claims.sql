-- +goose Up
-- The claim of a request that runs outside a transaction: who runs it, and until when nobody else may.
alter table idempotency add column holder uuid, add column held_until timestamptz;

-- +goose Down
alter table idempotency drop column holder, drop column held_until;
