-- +goose Up
-- The reminders behind the first, whose hours are reminder_hours, where replicas of before look. An appointment's reminded_at is the time up to which
-- its reminders have gone out: those that were due by then do not go out again.
alter table settings add column later_reminders int[] not null default '{}';
-- What clients read in the mails of a service: what to bring.
alter table service add column mail_text text not null default '';

-- +goose Down
alter table service drop column mail_text;
alter table settings drop column later_reminders;
