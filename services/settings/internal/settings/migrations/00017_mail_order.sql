-- +goose Up
-- What a mail is about, and its turn among those about the same. Mails of before, and of replicas of before, have no turn and wait for nobody.
create sequence mail_turn;
alter table mail add column about text, add column turn bigint;

-- +goose Down
alter table mail drop column about, drop column turn;
drop sequence mail_turn;
