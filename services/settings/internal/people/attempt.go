package people

import (
	"cmp"
	"context"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

// Acting makes p the actor of what ctx does, through the channel and from the address of now.
func Acting(ctx context.Context, p Person) context.Context {
	who := db.ActorFrom(ctx)
	return db.WithActor(ctx, db.Actor{UserID: p.ID, Label: p.Name, Channel: who.Channel, Address: who.Address})
}

// Refusing runs f in a transaction that is committed also when f refuses: what f wrote, such as a count of failures, stays.
// It returns the error, else the refusal.
func Refusing(ctx context.Context, d *db.DB, f func(*db.Tx) (refusal, err error)) error {
	var refusal error
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		refusal, err = f(tx)
		return err
	})
	return cmp.Or(err, refusal)
}

// AuditRefusal notes in the audit log that a user, 0 for one who does not exist, was not let in.
func AuditRefusal(ctx context.Context, tx *db.Tx, personID int64) error {
	record := ""
	if personID != 0 {
		record = row.Key(personID)
	}
	return tx.Audit(ctx, &proto.Audit{Action: "sign-in", RecordType: "user", RecordId: record, Outcome: "refused"})
}
