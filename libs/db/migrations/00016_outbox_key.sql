-- +goose Up
-- Rows of a record are found by the hash of its key: four bytes instead of topic and key in each entry, of which a row gets
-- two, one when it is written and one when it is sent.
drop index outbox_record;
create index outbox_key on outbox (hash);

-- +goose Down
drop index outbox_key;
create index outbox_record on outbox (topic, key);
