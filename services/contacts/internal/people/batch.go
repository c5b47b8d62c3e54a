package people

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/tag"
)

type newContacts struct {
	Items []op.Row[newContact] `json:"items" required:"true" minItems:"1" maxItems:"100" doc:"The contacts to create, at most 100."`
}

// madeContacts are the answers to the rows of a batch, in the order of the rows.
type madeContacts struct {
	Items []madeContact `json:"items" doc:"An answer for each row, in the order of the rows."`
}

// madeContact is the answer to one row: the new contact, or the error that refused it.
type madeContact struct {
	Index   int              `json:"index" doc:"The row's place in the request, from 0."`
	Status  int              `json:"status" doc:"201, or the status that POST /contacts would have answered with."`
	Contact *contact.Contact `json:"contact,omitempty" doc:"With status 201."`
	Error   *op.Refusal      `json:"error,omitempty" doc:"With any other status: code, message and data, as of every error."`
}

// createContacts creates the contacts that createContact would create one after the other, with an audit entry for each, and returns
// the error of each refused row. One transaction holds them all: an error that belongs to no single row rolls it back.
//
// The tags of all rows come first, then the rows in the order of their addresses, so that two batches wait for each other, and for
// createContact, and never in a circle. Of rows with one address the first is made.
func (r *Room) createContacts(ctx context.Context, tx *db.Tx, in newContacts) (madeContacts, error) {
	answers := make([]madeContact, len(in.Items))
	refuse := func(row int, err error) error {
		refused, isFault := errors.AsType[*fault.Fault](err)
		if !isFault || refused.Status >= http.StatusInternalServerError {
			return err
		}
		answers[row] = madeContact{Index: row, Status: refused.Status, Error: op.Refuse(refused)}
		return nil
	}
	var drafts []batchDraft
	for i, row := range in.Items {
		d, err := batchDraft{row: i}, row.Err
		if err == nil {
			d.Contact, err = r.readContactInput(ctx, tx, row.In)
		}
		if err == nil {
			d.key = address.Key(d.Email)
			drafts = append(drafts, d)
		} else if err := refuse(i, err); err != nil {
			return madeContacts{}, err
		}
	}
	slices.SortStableFunc(drafts, func(a, b batchDraft) int { return strings.Compare(a.key, b.key) })
	if err := nameBatch(ctx, tx, drafts); err != nil {
		return madeContacts{}, err
	}
	for _, d := range drafts {
		var made contact.Contact
		var err error
		if d.taken {
			err = Duplicate(ctx, tx, d.key)
		} else if made, err = r.makeContact(ctx, tx, d.Contact); errors.Is(err, contact.ErrTaken) {
			// Somebody has taken the address since nameBatch looked. Run again, the row makes no tags.
			err = tx.Later(fault.Unavailable(), addressSettles)
		}
		if err != nil {
			if err := refuse(d.row, err); err != nil {
				return madeContacts{}, err
			}
			continue
		}
		answers[d.row] = madeContact{Index: d.row, Status: http.StatusCreated, Contact: &made}
		if err := op.Audit(ctx, tx, "create-contact", "contact", made.ID.String()); err != nil {
			return madeContacts{}, err
		}
	}
	return madeContacts{answers}, nil
}

// addressSettles is how long a batch runs again while others take addresses of its rows.
const addressSettles = 10 * time.Second

// batchDraft is a row of a batch on its way to become a contact.
type batchDraft struct {
	contact.Contact
	row   int
	key   string
	taken bool // a contact or an earlier row has the address
}

// nameBatch marks the rows whose address is taken, and gives the others their tags. Rows that are not made leave no new
// tags behind. While addressIsNew is trusted no row counts as taken.
func nameBatch(ctx context.Context, tx *db.Tx, drafts []batchDraft) error {
	if !tx.Trusts(addressIsNew) {
		if err := markTaken(ctx, tx, drafts); err != nil {
			return err
		}
	}
	typed := record.Names{}
	for _, d := range drafts {
		for _, t := range d.Tags {
			if !d.taken {
				typed[t] = true
			}
		}
	}
	named, err := tag.ByName(ctx, tx, typed)
	if err != nil {
		return err
	}
	for i := range drafts {
		drafts[i].Tags = named(drafts[i].Tags)
	}
	return nil
}

func markTaken(ctx context.Context, tx *db.Tx, drafts []batchDraft) error {
	var keys []string
	for _, d := range drafts {
		keys = append(keys, d.key)
	}
	rows, err := tx.Query(ctx, `select email_key from contact where email_key = any($1) and deleted_at is null and email_key <> ''`, keys)
	if err != nil {
		return err
	}
	held, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	taken := record.Names{}
	for _, key := range held {
		taken[key] = true
	}
	for i, d := range drafts {
		drafts[i].taken = taken[d.key]
		taken[d.key] = d.key != ""
	}
	return nil
}
