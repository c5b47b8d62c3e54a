-- +goose Up
-- The language of the page that the client booked on; empty for that of the business's country.
alter table appointment add language text not null default '';
-- After how many hours without an answer a request is declined; 0 for never.
alter table settings add request_expires_hours int not null default 0;
-- Requests are few among appointments, and looked for often: by the team, and by the job that lets them expire.
create index appointment_pending on appointment (starts_at, id) where status = 'pending';

-- +goose Down
drop index appointment_pending;
alter table settings drop request_expires_hours;
alter table appointment drop language;
