package settings

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// forgottenKept is for how long what comes late of a person who was erased is told from what is new.
const forgottenKept = 30 * 24 * time.Hour

// forgetPerson takes a person who was erased out of the audit log, where visitors stand with their names, and
// out of the mails.
func (s *service) forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	b := &pgx.Batch{}
	b.Queue(`insert into forgotten select distinct p, $2::timestamptz from unnest($1::bytea[]) p on conflict (person) do update set at = greatest(forgotten.at, excluded.at)`, p.Called(), p.At)
	b.Queue(`update audit set actor_label = '', person = null where person = any($1) and created_at <= $2`, p.Called(), p.At)
	b.Queue(`delete from mail where person = any($1) and created_at <= $2`, p.Called(), p.At)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	return nil, s.dropMailsAbout(ctx, tx, p.Called(), p.At)
}

var addresses = regexp.MustCompile(`[^\s<>()"',;:]+@[^\s<>()"',;:]+`)

// personal: visitors stand in the audit log, by name, and in mails.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{"audit": app.People, "mail": app.People, "forgotten": app.People}
	for _, table := range []string{"role", "person", "recovery_code", "session", "application_password", "link", "document", "page"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: s.forgetPerson}
}

// dropMailsAbout takes back what still waits to be sent to others and names one of the addresses.
func (s *service) dropMailsAbout(ctx context.Context, tx *db.Tx, people [][]byte, until time.Time) error {
	gone := map[string]bool{}
	for _, p := range people {
		gone[string(p)] = true
	}
	rows, err := tx.Query(ctx, `select id, message from mail where status in ('queued', 'retrying') and message is not null and created_at <= $1`, until)
	if err != nil {
		return err
	}
	var about []uuid.UUID
	var id uuid.UUID
	var message []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &message}, func() error {
		var m proto.Mail
		if err := protobuf.Unmarshal(message, &m); err != nil {
			return err
		}
		for _, a := range addresses.FindAllString(m.GetSubject()+" "+m.GetText(), -1) {
			if gone[string(s.Keys.Person(address.Key(strings.Trim(a, "."))))] {
				about = append(about, id)
				break
			}
		}
		return nil
	}); err != nil || len(about) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `delete from mail where id = any($1)`, about)
	return err
}
