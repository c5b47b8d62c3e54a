-- +goose Up
-- The secret before, for as long as requests are signed with it as well.
alter table webhook add old_secret bytea, add old_secret_until timestamptz,
	add constraint webhook_old_secret check ((old_secret is null) = (old_secret_until is null));
-- When a replay queued the delivery again.
alter table delivery add replayed_at timestamptz;

-- +goose Down
alter table webhook drop old_secret, drop old_secret_until;
alter table delivery drop replayed_at;
