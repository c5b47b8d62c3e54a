package settings

import (
	"cmp"
	"context"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// asPerson makes p the actor of what ctx does, through the channel and from the address of now.
func asPerson(ctx context.Context, p person) context.Context {
	who := db.ActorFrom(ctx)
	return db.WithActor(ctx, db.Actor{UserID: p.ID, Label: p.Name, Channel: who.Channel, Address: who.Address})
}

// refusing runs f in a transaction that is committed also when f refuses: what f wrote, such as a count of failures, stays.
// It returns the error, else the refusal.
func refusing(ctx context.Context, d *db.DB, f func(*db.Tx) (refusal, err error)) error {
	var refusal error
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		refusal, err = f(tx)
		return err
	})
	return cmp.Or(err, refusal)
}

// auditRefusal notes in the audit log that a user, 0 for one who does not exist, was not let in.
func auditRefusal(ctx context.Context, tx *db.Tx, personID int64) error {
	record := ""
	if personID != 0 {
		record = number(personID)
	}
	return tx.Audit(ctx, &proto.Audit{Action: "sign-in", RecordType: "user", RecordId: record, Outcome: "refused"})
}
