package contact

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/person"
)

// mostNamed is how many contacts a notice names.
const mostNamed = 20

// Assigned are the contacts that one transaction gives to people, by the people, in turn.
type Assigned map[int64]*proto.Notice_Given

// Note adds a contact that has an owner whom it did not have before.
func (a Assigned) Note(had *int64, c Contact) {
	if c.OwnerUserID == nil || had != nil && *had == *c.OwnerUserID {
		return
	}
	given := a[*c.OwnerUserID]
	if given == nil {
		given = &proto.Notice_Given{}
		a[*c.OwnerUserID] = given
	}
	if given.Total++; given.GetTotal() <= mostNamed {
		given.Contacts = append(given.Contacts, &proto.Notice_Contact{Id: c.ID.String(), Name: person.DisplayName(c.FirstName, c.LastName, c.Email, c.Phone)})
	}
}

// Tell tells the people, in a notice for each, that somebody else of the team gave them contacts. Whom a form or a visitor gives a contact is told of
// the submission, if the form says so.
func (a Assigned) Tell(ctx context.Context, tx *db.Tx) error {
	for owner, given := range a {
		if tx.Who.UserID == 0 || owner == tx.Who.UserID {
			continue
		}
		if err := tx.Tell(ctx, "contact/"+given.GetContacts()[0].GetId(), &proto.Notice{By: tx.Who.Label, Given: given,
			To: []*proto.Notice_Addressee{{UserId: owner, Kind: "team_assigned", How: "assigned"}}}); err != nil {
			return err
		}
	}
	return nil
}
