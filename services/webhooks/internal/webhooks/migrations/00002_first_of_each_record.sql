-- +goose Up

-- Finds the first waiting delivery of each record without reading the others of that record: a claim needs it when the
-- oldest deliveries of a webhook are about few records.
create index delivery_queued_record on delivery (webhook, record, seq) where status = 'queued';

-- +goose Down
drop index delivery_queued_record;
