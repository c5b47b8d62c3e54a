-- +goose Up
-- Most of what waits here for a few milliseconds is mail: to compress it must not cost more than to send it.
-- +goose StatementBegin
do $$
begin
	alter table outbox alter value set compression lz4;
exception when feature_not_supported then
	null; -- a server that was built without it takes what it has
end $$;
-- +goose StatementEnd

-- +goose Down
alter table outbox alter value set compression default;
