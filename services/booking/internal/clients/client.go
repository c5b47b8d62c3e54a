package clients

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Client is the copy of a contact, as far as appointments and mails need it.
type Client struct{ FirstName, LastName, Email, Phone string }

// Name is first and last name; empty for none.
func (c Client) Name() string {
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}

// Label names the client in logs: by name, else by address.
func (c Client) Label() string {
	if n := c.Name(); n != "" {
		return n
	}
	if c.Email != "" {
		return c.Email
	}
	return c.Phone
}

// Other is a name that was typed with the address of somebody who is called otherwise; empty if the names are the same but for case,
// accents and blanks, if one of them is, or if what was typed is no name but an address, of which an erasure would know nothing.
func Other(typed, known string) string {
	typed, known = strings.Join(strings.Fields(typed), " "), strings.Join(strings.Fields(known), " ")
	if typed == "" || known == "" || strings.ContainsAny(typed, "@%") || collate.New(language.Und, collate.Loose).CompareString(typed, known) == 0 {
		return ""
	}
	return typed
}

// NameOf is the name of a contact as its copy has it, and whether contacts has it: else it is a client of whom contacts is about to say who it is.
func NameOf(ctx context.Context, tx *db.Tx, id uuid.UUID) (name string, known bool, err error) {
	var c Client
	err = tx.QueryRow(ctx, `select first_name, last_name, version > 0 from contact where id = $1`, id).Scan(&c.FirstName, &c.LastName, &known)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return c.Name(), known, err
}

// Hold reads a contact that the caller may see and that is not in the trash, and locks it in share mode. The error
// is svc_not_found; the transaction waits for a contact that may still be on its way, see db.Tx.Arriving.
func (r *Room) Hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (c Client, err error) {
	// Held, so that a merge of this moment finds what is booked.
	err = tx.QueryRow(ctx, `select first_name, last_name, email, phone from contact
		where id = $1 and not trashed and ($2::bigint = 0 or owner_user_id = $2) for share`, id, tx.Who.OwnUser()).Scan(&c.FirstName, &c.LastName, &c.Email, &c.Phone)
	if errors.Is(err, pgx.ErrNoRows) {
		err = tx.Arriving("contact")
	}
	return c, err
}

// QueueByAddress reads, with a batch, the contact that has an address, and locks it in share mode, so that a merge of this moment finds what
// is booked. Both values stay as they are if no contact has it.
func QueueByAddress(b *pgx.Batch, key string, contact *uuid.UUID, c *Client) {
	b.Queue(`select id, first_name, last_name, email, phone from contact where email_key = $1 and email_key <> '' and not trashed
		order by version desc, id limit 1 for share`, key).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{contact, &c.FirstName, &c.LastName, &c.Email, &c.Phone}, func() error { return nil })
		return err
	})
}

// Add inserts, with the commit, a client whom contacts does not have yet.
func Add(tx *db.Tx, id uuid.UUID, c Client) {
	tx.Defer(`insert into contact (id, version, first_name, last_name, email, email_key, phone) values ($1, 0, $2, $3, $4, $5, $6)`,
		id, c.FirstName, c.LastName, c.Email, address.Key(c.Email), c.Phone)
}

// Origin is the origin of the commands to contacts that bookings send.
const Origin = "appointment"

// Command asks contacts to make or fill in the client of an appointment, whose mails are in a language; "" for that of the business's country.
func Command(c Client, language string, contact, appointment uuid.UUID) *proto.EnsureContact {
	return &proto.EnsureContact{ContactId: contact.String(), Email: c.Email, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Language: language,
		Status: "lead", Source: db.ChannelBooking, Create: true, Origin: Origin, OriginId: appointment.String()}
}

// Ensure is the event with which contacts gets Command.
func Ensure(c *proto.EnsureContact) db.Event {
	return db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: address.Key(c.GetEmail()), Data: c}
}

// Owns reports whether a user owns contacts, organizations or open tasks.
func Owns(ctx context.Context, tx *db.Tx, user int64) (has bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from contact where owner_user_id = $1) or exists (select from organization where owner_user_id = $1)
		or exists (select from task where owner_user_id = $1)`, user).Scan(&has)
	return has, err
}
