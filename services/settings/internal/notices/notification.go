package notices

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
)

// Ways of being told of a kind.
const (
	off    = "off"
	byMail = "mail"
	digest = "digest"
)

// kindAgenda is the kind that nobody is sent unless they ask for it.
const kindAgenda = "agenda"

// standardDigest is when digests and agendas go out, unless the person has chosen another time.
const standardDigest = "07:30"

// kindsOf has a value for each kind.
type kindsOf[V any] struct {
	Booked     V `json:"team_booked" enum:"off,mail,digest" doc:"Others booked an appointment with the caller, confirmed one or handed one over."`
	Request    V `json:"team_request" enum:"off,mail,digest" doc:"A visitor asks for a time that waits to be confirmed."`
	Cancelled  V `json:"team_cancelled" enum:"off,mail,digest" doc:"An appointment of the caller was cancelled, declined or given to somebody else."`
	Moved      V `json:"team_moved" enum:"off,mail,digest" doc:"An appointment of the caller has another time or place."`
	Waiting    V `json:"request_waiting" enum:"off,mail,digest" doc:"A request has waited for a day, or for half of the time after which it is declined."`
	Agenda     V `json:"agenda" enum:"off,mail,digest" doc:"The appointments of the day, each morning that has some."`
	Submission V `json:"team_submission" enum:"off,mail,digest" doc:"A contact of the caller has sent in a form that tells the owner."`
	Assigned   V `json:"team_assigned" enum:"off,mail,digest" doc:"Somebody else gave the caller a contact or a task."`
	Approval   V `json:"approval_waiting" enum:"off,mail,digest" doc:"A call of a key or an assistant waits until the caller, or somebody else, approves it."`
}

type (
	// kinds are how a person is told of each kind.
	kinds kindsOf[string]
	// changedKinds are the kinds that a request names.
	changedKinds kindsOf[opt.Value[string]]
)

// notifications are what a person has chosen, and the standard where they have not.
type notifications struct {
	Kinds    kinds   `json:"kinds"`
	DigestAt string  `json:"digest_at" doc:"When digest and agenda go out, HH:MM in the zone of the business."`
	Language *string `json:"language" enum:"en,nl,fr,de" nullable:"true" doc:"Language of all mails to the caller, also about the account; null for that of the business's country."`

	person, version int64
}

// RecordVersion is the answer's ETag.
func (n notifications) RecordVersion() int64 { return n.version }

// RecordID names the user in the audit log.
func (n notifications) RecordID() string { return row.Key(n.person) }

// standard is what holds for a person who has chosen nothing.
func standard(person int64) notifications {
	return notifications{Kinds: kinds{byMail, byMail, byMail, byMail, byMail, off, byMail, byMail, byMail}, DigestAt: standardDigest, person: person}
}

func (r *Room) get(ctx context.Context, tx *db.Tx, _ op.None) (notifications, error) {
	return read(ctx, tx, tx.Who.UserID, ``)
}

// read is what a person has chosen, behind a lock or none. A kind that was added since is as the standard says.
func read(ctx context.Context, tx *db.Tx, person int64, lock string) (notifications, error) {
	n := standard(person)
	err := tx.QueryRow(ctx, `select $2::jsonb || kinds, digest_at, language, version from notification where person_id = $1`+lock, person, n.Kinds).Scan(&n.Kinds, &n.DigestAt, &n.Language, &n.version)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return n, err
}

func (c changedKinds) apply(k *kinds) {
	c.Booked.Apply(&k.Booked)
	c.Request.Apply(&k.Request)
	c.Cancelled.Apply(&k.Cancelled)
	c.Moved.Apply(&k.Moved)
	c.Waiting.Apply(&k.Waiting)
	c.Agenda.Apply(&k.Agenda)
	c.Submission.Apply(&k.Submission)
	c.Assigned.Apply(&k.Assigned)
	c.Approval.Apply(&k.Approval)
}

var clock = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// update changes what the caller is told. What waits and is off from now on is not mailed any more.
func (r *Room) update(ctx context.Context, tx *db.Tx, in struct {
	Kinds    changedKinds      `json:"kinds,omitzero" doc:"How the caller is told of these kinds: off, by mail at once, or in the digest."`
	DigestAt opt.Value[string] `json:"digest_at,omitzero" maxLength:"5" doc:"When digest and agenda go out, HH:MM in the zone of the business."`
	Language opt.Value[string] `json:"language,omitzero" nullable:"true" enum:"en,nl,fr,de" doc:"Language of all mails to the caller, also about the account; null for that of the business's country."`
}) (notifications, error) {
	if in.DigestAt.Given() && !clock.MatchString(in.DigestAt.V) {
		return notifications{}, fault.Invalid("digest_at", fault.NewProblem("clock", "must be a time of day such as 07:30"))
	}
	person, err := people.Lock(ctx, tx, tx.Who.UserID)
	if err != nil {
		return notifications{}, err
	}
	if _, err := tx.Exec(ctx, `insert into notification (person_id, kinds, digest_at, version) values ($1, $2, $3, 0) on conflict do nothing`,
		tx.Who.UserID, standard(0).Kinds, standardDigest); err != nil {
		return notifications{}, err
	}
	was, err := read(ctx, tx, tx.Who.UserID, ` for update`)
	if err != nil {
		return was, err
	}
	if err := tx.Match(was.version); err != nil {
		return was, err
	}
	n := was
	in.Kinds.apply(&n.Kinds)
	in.DigestAt.Apply(&n.DigestAt)
	in.Language.ApplyPtr(&n.Language)
	diff := change.Set{}
	diff.Note("kinds", was.Kinds, n.Kinds)
	diff.Note("digest_at", was.DigestAt, n.DigestAt)
	diff.Note("language", was.Language, n.Language)
	tx.Changed(diff)
	// The agenda of a day whose time has come already would be late.
	var asked *time.Time
	if day, at := r.morning(tx.Now, n.DigestAt); tx.Now.After(at) {
		asked = &day
	}
	err = tx.QueryRow(ctx, `update notification set kinds = $2, digest_at = $3, language = $4, version = version + 1,
		agenda_on = case when kinds->>'agenda' = 'off' or digest_at <> $3 then greatest(agenda_on, $5::date) else agenda_on end where person_id = $1 returning version`,
		tx.Who.UserID, n.Kinds, n.DigestAt, n.Language, asked).Scan(&n.version)
	if err != nil {
		return n, err
	}
	if _, other := diff["language"]; other {
		if err := people.Republish(ctx, tx, person); err != nil {
			return n, err
		}
	}
	_, err = tx.Exec(ctx, `delete from notice n using notification s where s.person_id = n.person_id and s.person_id = $1 and s.kinds->>n.kind = 'off'`, tx.Who.UserID)
	return n, err
}

// moment is the time of day at on a day of the business. Where the clocks skip it, it is as much later.
func (r *Room) moment(day time.Time, at string) time.Time {
	t, _ := time.Parse("15:04", at) // checked when it was stored
	return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), 0, 0, r.Config.Zone)
}

// lastDigest is the newest time at or before now at which digests went out, for somebody who chose the time of day at.
func (r *Room) lastDigest(now time.Time, at string) time.Time {
	today := now.In(r.Config.Zone)
	if m := r.moment(today, at); !m.After(now) {
		return m
	}
	return r.moment(today.AddDate(0, 0, -1), at)
}
