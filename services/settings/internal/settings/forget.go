package settings

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// personal declares what the tables hold about people: visitors stand in the audit log, by name and in changed values, and in mails.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{"audit": app.People, "mail": app.People}
	// A password_request names whoever was typed, for the moment until it is handled.
	for _, table := range []string{"role", "person", "recovery_code", "session", "browser", "application_password", "assistant", "connection", "access_token", "password_request", "passkey", "passkey_challenge", "link", "document", "page", "media"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: forgetPerson}
}

// forgetPerson takes a person's name and network address, and changes that name them, out of the audit log, and deletes the mails to them and the waiting ones that name
// them. It answers with the ids of these mails.
func forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	if _, err := tx.Exec(ctx, `update audit set actor_label = '', address = '', person = null where person = any($1) and created_at < $2`, p.Called(), p.At); err != nil {
		return nil, err
	}
	// The values of changes to the person's own records, and values elsewhere that name them.
	ids := make([]string, 0, len(p.IDs()))
	for _, id := range p.IDs() {
		ids = append(ids, id.String())
	}
	if _, err := tx.Exec(ctx, `update audit set changes = null, people = null where changes is not null and created_at < $3
		and id in (select id from audit where changes is not null and record_id = any($1) union all select id from audit where changes is not null and people && $2)`,
		ids, p.Called(), p.At); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `delete from mail where person = any($1) and created_at < $2 returning id`, p.Called(), p.At)
	if err != nil {
		return nil, err
	}
	to, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, err
	}
	about, err := deleteMailsAbout(ctx, tx, p)
	return append(to, about...), err
}

// deleteMailsAbout deletes the mails to others that wait to be sent and hold one of the person's addresses.
func deleteMailsAbout(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id, message from mail where status in ('queued', 'retrying', 'sending') and message is not null and created_at < $1`, p.At)
	if err != nil {
		return nil, err
	}
	var about []uuid.UUID
	var id uuid.UUID
	var message []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &message}, func() error {
		var m proto.Mail
		if err := protobuf.Unmarshal(message, &m); err != nil {
			return err
		}
		if p.MentionedIn(m.GetSubject()) || p.MentionedIn(m.GetText()) {
			about = append(about, id)
		}
		return nil
	}); err != nil || len(about) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `delete from mail where id = any($1)`, about)
	return about, err
}
