package notices

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// named are the records and the people that a notice is about: ids, and hashes of addresses, or of a name that has none.
func (r *Room) named(n *proto.Notice) (records []uuid.UUID, people [][]byte) {
	records, people = []uuid.UUID{}, [][]byte{}
	record := func(texts ...string) {
		for _, text := range texts {
			if id, err := uuid.Parse(text); err == nil {
				records = append(records, id)
			}
		}
	}
	person := func(text string) {
		if text != "" {
			people = append(people, r.Keys.Person(address.Key(text)))
		}
	}
	for _, v := range n.GetVisits() {
		record(v.GetId(), v.GetContactId())
		if person(v.GetEmail()); v.GetEmail() == "" {
			person(v.GetClient())
		}
		for _, f := range address.Find(v.GetLocation()) {
			person(f.Address)
		}
	}
	if s := n.GetSubmission(); s != nil {
		record(s.GetId(), s.GetContactId())
		person(s.GetReplyTo())
		for _, l := range s.GetLines() {
			for _, f := range address.Find(l.GetText()) {
				person(f.Address)
			}
		}
	}
	for _, c := range n.GetGiven().GetContacts() {
		record(c.GetId())
	}
	if t := n.GetTask(); t != nil {
		record(t.GetId(), t.GetContact().GetId())
		for _, f := range address.Find(t.GetTitle()) {
			person(f.Address)
		}
	}
	return records, people
}

// forget takes a person out of the notices that wait, and deletes those that are about nobody else. It returns the ids of the deleted.
func forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id, place, message from notice where (records && $1 or people && $2) and at < $3 order by id, place for update`, p.IDs(), p.Called(), p.At)
	if err != nil {
		return nil, err
	}
	type place struct {
		ID      uuid.UUID
		Place   int
		Message []byte
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[place])
	if err != nil {
		return nil, err
	}
	var gone []uuid.UUID
	for _, f := range found {
		n := &proto.Notice{}
		if err := protobuf.Unmarshal(f.Message, n); err != nil {
			return nil, fmt.Errorf("notice %s: %w", f.ID, err)
		}
		if !strike(n, p) {
			gone = append(gone, f.ID)
			if _, err := tx.Exec(ctx, `delete from notice where id = $1 and place = $2`, f.ID, f.Place); err != nil {
				return nil, err
			}
			continue
		}
		left, err := protobuf.Marshal(n)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, `update notice set message = $3 where id = $1 and place = $2`, f.ID, f.Place, left); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// strike takes a person out of a notice, and reports whether it still says something.
func strike(n *proto.Notice, p *erasure.Person) bool {
	n.Visits = slices.DeleteFunc(n.GetVisits(), func(v *proto.Notice_Visit) bool {
		return p.MentionedIn(v.GetId()+" "+v.GetContactId()) || p.HasAddress(v.GetEmail()) || p.MentionedIn(v.GetLocation()) || v.GetEmail() == "" && p.HasName(v.GetClient())
	})
	if s := n.GetSubmission(); s != nil {
		about := p.MentionedIn(s.GetId()+" "+s.GetContactId()) || p.HasAddress(s.GetReplyTo())
		if about || slices.ContainsFunc(s.GetLines(), func(l *proto.Notice_Line) bool { return p.MentionedIn(l.GetText()) }) {
			n.Submission = nil
		}
	}
	if g := n.GetGiven(); g != nil {
		had := len(g.GetContacts())
		g.Contacts = slices.DeleteFunc(g.GetContacts(), func(c *proto.Notice_Contact) bool { return p.MentionedIn(c.GetId()) })
		if g.Total -= int32(had - len(g.GetContacts())); g.GetTotal() == 0 {
			n.Given = nil
		}
	}
	if t := n.GetTask(); p.MentionedIn(t.GetId() + " " + t.GetContact().GetId() + " " + t.GetTitle()) {
		n.Task = nil
	}
	return len(n.GetVisits()) > 0 || n.GetSubmission() != nil || n.GetGiven() != nil || n.GetTask() != nil
}
