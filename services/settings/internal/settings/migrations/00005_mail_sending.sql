-- +goose Up
-- A mail is sending from right before the end of its message is sent until the server has answered. Without an answer it is
-- unknown, and it is not sent again. The lease is by the database's clock, because those of two hosts may differ.
alter table mail drop constraint mail_status_check,
	add constraint mail_status_check check (status in ('queued', 'retrying', 'sending', 'sent', 'failed', 'unknown')),
	add leased_until timestamptz not null default '-infinity',
	add app          text        not null default '',
	add not_after    timestamptz;
create index mail_sending on mail (leased_until) where status = 'sending';

-- +goose Down
update mail set status = 'failed' where status in ('sending', 'unknown');
drop index mail_sending;
alter table mail drop constraint mail_status_check, drop not_after, drop app, drop leased_until,
	add constraint mail_status_check check (status in ('queued', 'retrying', 'sent', 'failed'));
