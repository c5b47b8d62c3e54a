package booking

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.ContactTopic, Handle: s.onContact, Keys: bus.KeysOf("contact")},
		{Topic: proto.OrganizationTopic, Handle: onOrganization, Keys: bus.KeysOf("organization")},
		{Topic: proto.FormTopic, Handle: onForm, Keys: bus.KeysOf("form")},
		{Topic: proto.PageTopic, Handle: onPage, Keys: bus.KeysOf("page")},
	}
}

// contactRecord is what booking keeps of a contact.
type contactRecord struct {
	ID          uuid.UUID  `json:"id"`
	FirstName   string     `json:"first_name"`
	LastName    string     `json:"last_name"`
	Email       string     `json:"email"`
	Phone       string     `json:"phone"`
	OwnerUserID *int64     `json:"owner_user_id"`
	DeletedAt   *time.Time `json:"deleted_at"`
}

func (s *service) onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	switch {
	case e.Tombstone:
		// The contact is gone, for whatever reason. The appointments are booking's own.
		_, err := tx.Exec(ctx, `delete from contact where id = $1`, id)
		return err
	case e.Kind == proto.KindContactErased:
		_, err := forgetContacts(ctx, tx, []uuid.UUID{id})
		return err
	case e.Kind == proto.KindContactMergedAway:
		var x proto.MergedAway
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		into, err := uuid.Parse(x.GetInto())
		if err != nil {
			return fmt.Errorf("the contact that %s went into: %w", id, err)
		}
		return s.repoint(ctx, tx, id, into)
	}
	if string(e.Data) == "null" {
		// Asked for, and not made: there is no record to keep, and no other answer to ask for.
		_, err := tx.Exec(ctx, `update contact set asked_at = 'infinity' where id = $1 and version = 0`, id)
		return err
	}
	var c contactRecord
	if err := e.Decode(&c); err != nil {
		return err
	}
	// Another address ends the links that went to the one before, which may be a stranger's. It spares those of visitors who booked with
	// that one after the change: contacts is about to say whose their appointments are.
	_, err = tx.Exec(ctx, `with before as (select from contact where id = @id and version < @below and email_key not in ('', @email_key)),
		ended as (update manage_token set ended = true where not ended and exists (select from before)
			and appointment_id in (select id from appointment where contact_id = @id and (source <> @booking or created_at < @at)))
		insert into contact as c (id, version, first_name, last_name, email, email_key, phone, owner_user_id, trashed)
		values (@id, @version, @first_name, @last_name, @email, @email_key, @phone, @owner, @trashed)
		on conflict (id) do update set version = excluded.version, first_name = excluded.first_name, last_name = excluded.last_name,
			email = excluded.email, email_key = excluded.email_key, phone = excluded.phone, owner_user_id = excluded.owner_user_id, trashed = excluded.trashed
			where c.version < @below`,
		pgx.NamedArgs{"id": id, "version": e.Version, "below": e.ReplacesBelow(), "at": e.At, "booking": db.ChannelBooking, "first_name": c.FirstName, "last_name": c.LastName, "email": c.Email,
			"email_key": address.Key(c.Email), "phone": c.Phone, "owner": c.OwnerUserID, "trashed": c.DeletedAt != nil})
	if err != nil {
		return err
	}
	switch e.Kind {
	case proto.KindContactEnsured:
		var x proto.Ensured
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		if asked := x.GetRequestedId(); asked != "" && asked != e.Key {
			return s.ensured(ctx, tx, asked, id, &x)
		}
	case proto.KindContactMerged:
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		return s.repointID(ctx, tx, x.GetMergedId(), id)
	}
	return nil
}

// originAppointment is the origin of the commands to contacts that bookings send.
const originAppointment = "appointment"

// ensured hands over what was booked for a contact that turned out to be another one. An id that booking made up means the
// other from now on, with all its appointments. One that is a contact's stays that: only the appointment that asked is the other's.
func (s *service) ensured(ctx context.Context, tx *db.Tx, asked string, contact uuid.UUID, x *proto.Ensured) error {
	requested, err := uuid.Parse(asked)
	if err != nil {
		return fmt.Errorf("id of the contact that became %s: %w", contact, err)
	}
	var known bool
	if err := tx.QueryRow(ctx, `select exists (select from contact where id = $1 and version > 0)`, requested).Scan(&known); err != nil {
		return fmt.Errorf("look for contact %s: %w", requested, err)
	}
	if !known {
		return s.repoint(ctx, tx, requested, contact)
	}
	if x.GetOrigin() != originAppointment {
		return nil
	}
	id, err := uuid.Parse(x.GetOriginId())
	if err != nil {
		return fmt.Errorf("origin_id of %s: %w", proto.KindContactEnsured, err)
	}
	var waits bool
	err = tx.QueryRow(ctx, `select exists (select from appointment where id = $1 and contact_id = $2 for no key update)`, id, requested).Scan(&waits)
	if err != nil || !waits {
		return err // deleted, or handed over since
	}
	a, err := s.lock(ctx, tx, id)
	if err != nil {
		return err
	}
	return s.handTo(ctx, tx, a, contact)
}

// handTo makes a locked appointment that of another contact.
func (s *service) handTo(ctx context.Context, tx *db.Tx, a appointment, contact uuid.UUID) error {
	a.Contact.ID = contact
	a, err := s.resave(ctx, tx, a)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, nil, "contact"))
}

func (s *service) repointID(ctx context.Context, tx *db.Tx, from string, to uuid.UUID) error {
	id, err := uuid.Parse(from)
	if err != nil {
		return fmt.Errorf("id of the contact that became %s: %w", to, err)
	}
	return s.repoint(ctx, tx, id, to)
}

// repoint hands the appointments of one contact to another: the one that it turned out to be, or became.
// The contact goes first: a booking that holds it is waited for, and then found.
func (s *service) repoint(ctx context.Context, tx *db.Tx, from, to uuid.UUID) error {
	if _, err := tx.Exec(ctx, `delete from contact where id = $1`, from); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select id from appointment where contact_id = $1 order by id for no key update`, from)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := s.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.handTo(ctx, tx, a, to); err != nil {
			return err
		}
	}
	return nil
}

// onOrganization stores the owner of an organization, because removing a staff member has to hand over what they own.
func onOrganization(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone {
		_, err = tx.Exec(ctx, `delete from organization where id = $1`, id)
		return err
	}
	var o struct {
		OwnerUserID *int64 `json:"owner_user_id"`
	}
	if err := e.Decode(&o); err != nil {
		return err
	}
	if e.Kind == proto.KindOrganizationMerged {
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from organization where id = $1::uuid`, x.GetMergedId()); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `insert into organization as o (id, version, owner_user_id) values ($1, $2, $3)
		on conflict (id) do update set version = excluded.version, owner_user_id = excluded.owner_user_id where o.version < $4`,
		id, e.Version, o.OwnerUserID, e.ReplacesBelow())
	return err
}

func onForm(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if e.Tombstone {
		_, err = tx.Exec(ctx, `delete from form where id = $1`, id)
		return err
	}
	var f struct {
		Status     string `json:"status"`
		Definition struct {
			Elements []form.Element `json:"elements"`
		} `json:"definition"`
	}
	if err := e.Decode(&f); err != nil {
		return err
	}
	elements, err := json.Marshal(f.Definition.Elements)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into form as f (id, version, status, trashed, elements) values ($1, $2, $3, $4, $5)
		on conflict (id) do update set version = excluded.version, status = excluded.status, trashed = excluded.trashed, elements = excluded.elements
			where f.version < $6`, id, e.Version, f.Status, e.Kind == proto.KindFormDeleted, elements, e.ReplacesBelow())
	return err
}

func onPage(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindPageDeleted {
		_, err = tx.Exec(ctx, `delete from page where id = $1`, id)
		return err
	}
	var p struct {
		Title   string `json:"title"`
		Slug    string `json:"slug"`
		Status  string `json:"status"`
		Content string `json:"content"`
		URL     string `json:"url"`
		EditURL string `json:"edit_url"`
	}
	if err := e.Decode(&p); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into page as p (id, version, title, slug, status, content, url) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (id) do update set version = excluded.version, title = excluded.title, slug = excluded.slug, status = excluded.status,
			content = excluded.content, url = excluded.url where p.version < $8`,
		id, e.Version, p.Title, p.Slug, p.Status, p.Content, p.URL, e.ReplacesBelow())
	if err != nil || e.Extra == nil {
		return err
	}
	var x proto.PageEmbedded
	if err := e.DecodeExtra(&x); err != nil || x.GetRequestId() == "" {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from embedding where at < now() - interval '1 hour'`); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into embedding (request_id, page_id, status, edit_url, created, at) values ($1::uuid, $2, $3, $4, $5, now())
		on conflict do nothing`, x.GetRequestId(), id, p.Status, p.EditURL, x.GetCreated())
	return err
}
