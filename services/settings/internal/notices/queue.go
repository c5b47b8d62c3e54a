package notices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

const (
	// quiet is how long nothing may be added before what waits for somebody is mailed.
	quiet = 10 * time.Second
	// longest is how long the first of it waits while more is added.
	longest = 5 * time.Minute
	// mostNotices is how many are read for one mail; the others are in the next.
	mostNotices = 2000
	// kept is how long a notice waits for an app to be switched on again.
	kept = 5 * 24 * time.Hour
)

// onNotice puts a notice into the queue, once for each who is told, unless they want none of its kind or whom it is about was erased since.
func (r *Room) onNotice(ctx context.Context, tx *db.Tx, e bus.Event, n *proto.Notice) error {
	if e.History {
		return nil
	}
	id, err := uuid.Parse(n.GetId())
	if err != nil {
		return fmt.Errorf("id of a notice: %w", err)
	}
	records, people := r.named(n)
	at, start := e.At, time.Time{}
	if n.GetNotBefore() > 0 {
		if start = time.Unix(n.GetNotBefore(), 0); start.Before(at) {
			at = start // it comes late, and belongs to what was due then
		}
	}
	addressees := n.GetTo()
	for i, to := range addressees {
		n.To = []*proto.Notice_Addressee{to}
		message, err := protobuf.Marshal(n)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into notice (id, place, person_id, address, kind, app, at, start, message, records, people)
			select @id::uuid, @place::int, nullif(@person::bigint, 0), @address, @kind, @app, @at::timestamptz, @start::timestamptz, @message::bytea, @records::uuid[], @people::bytea[]
			where (@person = 0 or exists (select from person where id = @person))
				and not exists (select from notification where person_id = @person and kinds->>@kind = 'off')
				and not exists (select from forgotten_person where called = any(@people) and at > @sent)
			on conflict do nothing`,
			db.Args{"id": id, "place": i, "person": to.GetUserId(), "address": to.GetAddress(), "kind": to.GetKind(), "app": n.GetApp(), "at": at, "start": start, "sent": e.At,
				"message": message, "records": records, "people": people})
		if err != nil {
			return fmt.Errorf("put notice %s into the queue: %w", id, err)
		}
	}
	return nil
}

// recipient is somebody for whom notices wait.
type recipient struct {
	PersonID *int64
	Address  string
	Digest   bool
	First    time.Time
	Last     time.Time
	DigestAt string
}

// due is until when what waits for the recipient is mailed now; the zero time if it waits on.
func (r *Room) due(to recipient, now time.Time) time.Time {
	if to.Digest {
		if at := r.lastDigest(now, to.DigestAt); !to.First.After(at) {
			return at
		}
		return time.Time{}
	}
	if now.Sub(to.Last) >= quiet || now.Sub(to.First) >= longest {
		return now
	}
	return time.Time{}
}

// wantsDigest is the condition that a notice n goes into the digest of the person whose choices are s.
const wantsDigest = `(coalesce(s.kinds->>n.kind, 'mail') = 'digest')`

// mailDue mails what is due, all of a recipient in one mail, each recipient in a transaction of its own.
func (r *Room) mailDue(ctx context.Context) error {
	var all []recipient
	var now time.Time
	err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now
		if _, err := tx.Exec(ctx, `delete from notice where at < $1`, now.Add(-kept)); err != nil {
			return err
		}
		all, err = db.Rows[recipient](ctx, tx, `select n.person_id, n.address, `+wantsDigest+` as digest, min(n.at) as first, max(n.at) as last, coalesce(s.digest_at, $3) as digest_at
			from notice n left join notification s using (person_id) where n.app <> all($1) and n.start <= $2 group by n.person_id, n.address, 3, s.digest_at order by 4`,
			r.appsOff(), now, standardDigest)
		return err
	})
	if err != nil {
		return fmt.Errorf("read whom notices wait for: %w", err)
	}
	for _, to := range all {
		until := r.due(to, now)
		if until.IsZero() {
			continue
		}
		if err := r.DB.Do(ctx, func(tx *db.Tx) error { return r.mailTo(ctx, tx, to, until, nil) }); err != nil {
			return fmt.Errorf("mail notices: %w", err)
		}
	}
	return nil
}

// mailNow mails the notices of a rehearsal, each recipient's in one mail, as if nothing else waited for them. Those that wait for a time or an app
// are left.
func (r *Room) mailNow(ctx context.Context, tx *db.Tx, events []bus.Event) error {
	var ids []uuid.UUID
	until := tx.Now
	for _, e := range events {
		n := &proto.Notice{}
		if e.Kind != proto.KindTellTeam {
			continue
		}
		if err := protobuf.Unmarshal(e.Data, n); err != nil {
			return fmt.Errorf("notice of a rehearsal: %w", err)
		}
		id, err := uuid.Parse(n.GetId())
		if err != nil {
			return fmt.Errorf("id of a notice: %w", err)
		}
		if ids = append(ids, id); e.At.After(until) {
			until = e.At
		}
	}
	all, err := db.Rows[recipient](ctx, tx, `select n.person_id, n.address, `+wantsDigest+` as digest, min(n.at) as first, max(n.at) as last, coalesce(s.digest_at, $2) as digest_at
		from notice n left join notification s using (person_id) where n.id = any($1) group by n.person_id, n.address, 3, s.digest_at order by min(n.id::text), min(n.place)`, ids, standardDigest)
	if err != nil {
		return fmt.Errorf("read whom the notices of a rehearsal are for: %w", err)
	}
	for _, to := range all {
		if err := r.mailTo(ctx, tx, to, until, ids); err != nil {
			return fmt.Errorf("mail the notices of a rehearsal: %w", err)
		}
	}
	return nil
}

// appsOff names the apps that are off.
func (r *Room) appsOff() []string {
	names := []string{}
	for _, a := range r.Apps.State().Apps {
		if !r.Apps.On(a.ID) {
			names = append(names, a.ID)
		}
	}
	return names
}

// waiting is a notice on its way into a mail.
type waiting struct {
	ID      uuid.UUID
	Kind    string
	At      time.Time
	Message []byte
}

// mailTo takes what waits for a recipient until a time out of the queue, and mails it unless they have left the team. only are the notices that it takes;
// nil is all.
func (r *Room) mailTo(ctx context.Context, tx *db.Tx, to recipient, until time.Time, only []uuid.UUID) error {
	taken, err := db.Rows[waiting](ctx, tx, db.LimitTo(`delete from notice d using (select n.id, n.place from notice n left join notification s using (person_id)
			where n.person_id is not distinct from $1 and n.address = $2 and `+wantsDigest+` = $3 and n.at <= $4 and n.app <> all($5) and n.start <= $6 and ($7::uuid[] is null or n.id = any($7))
			order by n.at, n.id`, mostNotices)+` for update of n skip locked) x where d.id = x.id and d.place = x.place returning d.id, d.kind, d.at, d.message`,
		to.PersonID, to.Address, to.Digest, until, r.appsOff(), tx.Now, only)
	if err != nil {
		return err
	}
	slices.SortStableFunc(taken, func(a, b waiting) int {
		return slices.Compare([]int64{a.At.UnixNano()}, []int64{b.At.UnixNano()})
	})
	var all []*proto.Notice
	for _, w := range taken {
		n := &proto.Notice{}
		if err := protobuf.Unmarshal(w.Message, n); err != nil {
			return fmt.Errorf("notice %s: %w", w.ID, err)
		}
		if n.GetNotAfter() == 0 || tx.Now.Unix() <= n.GetNotAfter() {
			all = append(all, n)
		}
	}
	who, ok, err := r.reader(ctx, tx, to)
	if err != nil || !ok || len(all) == 0 {
		return err
	}
	m, err := mail.Render(r.letter(tx.Now, who, all, to.Digest))
	if errors.Is(err, mail.ErrContent) {
		slog.WarnContext(ctx, "notice cannot be mailed", "notice", all[0].GetId(), "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	m.App, m.NotAfter = all[0].GetApp(), all[0].GetNotAfter()
	for _, n := range all {
		records, _ := r.named(n)
		for _, id := range records {
			m.Records = append(m.Records, id.String())
		}
		if n.GetApp() != m.App {
			m.App = ""
		}
		if n.GetNotAfter() != m.NotAfter {
			m.NotAfter = 0
		}
	}
	if len(all) == 1 && len(all[0].GetVisits()) == 1 {
		m.About = "team/" + who.Address + "/" + all[0].GetVisits()[0].GetId()
	}
	return tx.Mail(ctx, m)
}

// dropWaiting ends the notices that wait in a backup, because they may have been mailed since.
func (r *Room) dropWaiting(ctx context.Context) (did []string, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		did = nil
		dropped, err := tx.Exec(ctx, `delete from notice`)
		if n := dropped.RowsAffected(); err == nil && n > 0 {
			did = append(did, fmt.Sprintf("%d notices to the team that waited are dropped, because they may have been mailed since the backup", n))
		}
		return err
	})
	return did, err
}
