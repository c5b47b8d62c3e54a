-- +goose Up
-- When the hours after which requests expire were last set: those that wait since before count from then.
alter table settings add expires_since timestamptz;

-- +goose Down
alter table settings drop expires_since;
