package contacts

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

// holding locks what a statement selects or writes, until let is called.
func holding(t *testing.T, s *apptest.Service, statement string, args ...any) (let func()) {
	t.Helper()
	tx := s.Begin()
	_, err := tx.Exec(t.Context(), statement, args...)
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback(t.Context())) }
}

// meanwhile starts a call, which done reports to have ended; wait waits for its answer.
func meanwhile(call func() *apptest.Answer) (done func() bool, wait func() *apptest.Answer) {
	var all sync.WaitGroup
	var ended atomic.Bool
	var a *apptest.Answer
	all.Go(func() { a = call(); ended.Store(true) })
	return ended.Load, func() *apptest.Answer { all.Wait(); return a }
}

func TestAnErasureThatRuns(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, apptest.Connections(4))
	for name, known := range map[string]bool{"of a contact": true, "of an address that nobody has": false} {
		t.Run(name+" meets a command of before", func(t *testing.T) {
			contactstest.Afresh(t, s)
			admin := s.As("svc_admin")
			if known {
				admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201)
			}
			// The erasure comes to a file that is done, and waits.
			file := admin.Post("/imports", object{"file_name": "x", "csv": "email\nbob@example.com\n"}).Is(201).Text("id")
			admin.Post("/imports/"+file+"/start", nil).Is(200)
			contactstest.Finished(s, admin, file)
			let := holding(t, s, `select from import where id = $1 for update`, file)
			_, wait := meanwhile(func() *apptest.Answer { return admin.Post("/privacy/erase", object{"email": "ann@example.com"}) })
			s.Waiting(1)
			s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: "ann@example.com", At: s.Now().Add(-time.Minute),
				Actor: &proto.Actor{Channel: db.ChannelForm, Label: "Ann"},
				Data:  &proto.EnsureContact{ContactId: uuid.NewString(), Email: "ann@example.com", FirstName: "Ann", Create: true, Origin: "submission", OriginId: uuid.NewString()}})
			s.Waiting(2, func() bool {
				var made bool
				err := s.Kit.DB.Pool.QueryRow(t.Context(), `select exists (select from contact where first_name = 'Ann')`).Scan(&made)
				return err == nil && made
			})
			let()
			wait().Is(200)
			s.Settle()
			var left int
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where email_key = 'ann@example.com'`).Scan(&left))
			require.Zero(t, left, "the person is back")
		})
	}
	t.Run("meets a merge of the contact", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		loser := admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id")
		winner := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
		s.Settle()
		let := holding(t, s, `select from activity where contact_id = $1 for update`, loser)
		_, merged := meanwhile(func() *apptest.Answer { return admin.Post("/contacts/"+winner+"/merge", object{"other_id": loser}) })
		s.Waiting(1)
		_, erased := meanwhile(func() *apptest.Answer { return admin.Post("/privacy/erase", object{"email": "ann@example.com"}) })
		s.Waiting(2)
		let()
		merged().Is(200)
		require.EqualValues(t, 1, erased().Is(200).Field("erased"))
		admin.Get("/contacts/"+winner).Fails(404, "svc_not_found")
	})
	t.Run("takes no address from a colleague's contact", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.Role("custom", "own", "svc_view_contacts", "svc_edit_contacts", "svc_delete_contacts", "svc_manage_crm")
		admin, own := s.As("svc_admin"), s.As("custom")
		mine := own.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id")
		own.Delete("/contacts/"+mine, nil).Is(204)
		theirs := admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id")
		before := len(erasures(t, s))
		require.EqualValues(t, 1, own.Post("/privacy/erase", object{"email": "ann@example.com"}).Is(200).Field("erased"))
		all := erasures(t, s)
		require.Len(t, all, before+1)
		require.Equal(t, []string{mine}, all[before].GetIds())
		require.Empty(t, all[before].GetCalled(), "the address is the colleague's contact's")
		admin.Get("/contacts/" + theirs).Is(200)
	})
}

// An event under an id that stands for a contact has read so, and commits after the contact is gone.
func TestWhatIsFiledWhileItsContactGoes(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, apptest.Connections(4))
	for name, merge := range map[string]bool{"a merge": true, "an erasure": false} {
		t.Run(name, func(t *testing.T) {
			contactstest.Afresh(t, s)
			admin := s.As("svc_admin")
			gone := admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id")
			winner := admin.Post("/contacts", object{"first_name": "Winner"}).Is(201).Text("id")
			given := uuid.NewString()
			ensure(s, &proto.EnsureContact{ContactId: given, Email: "ann@example.com", FirstName: "Ann", Create: true})
			id, at := uuid.NewString(), s.Now().UTC().Truncate(time.Second)
			let := holding(t, s, `insert into appointment (id, version, status, starts_at, ends_at) values ($1, 1, 'confirmed', $2, $2)`, id, at)
			contactstest.Appointment(s, proto.KindAppointmentBooked, 1, given, "confirmed", at, id)
			s.Waiting(1)
			done, wait := meanwhile(func() *apptest.Answer {
				if merge {
					return admin.Post("/contacts/"+winner+"/merge", object{"other_id": gone})
				}
				return admin.Post("/privacy/erase", object{"email": "ann@example.com"})
			})
			s.Waiting(2, done)
			let()
			wait().Is(200)
			s.Settle()
			var strays int
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select (select count(*) from appointment where contact_id = $1)
				+ (select count(*) from activity where contact_id = $1)`, gone).Scan(&strays))
			require.Zero(t, strays, "filed under a contact that is gone")
			if merge {
				var owner uuid.UUID
				err := s.Kit.DB.Pool.QueryRow(t.Context(), `select contact_id from appointment where id = $1`, id).Scan(&owner)
				require.NotErrorIs(t, err, pgx.ErrNoRows)
				require.NoError(t, err)
				require.Equal(t, winner, owner.String())
			}
		})
	}
}
