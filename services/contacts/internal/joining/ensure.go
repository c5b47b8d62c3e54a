package joining

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/tag"
)

// Results of EnsureContact, as contact.ensured names them.
const (
	ensuredCreated   = "created"
	ensuredUpdated   = "updated"
	ensuredUnchanged = "unchanged"
	ensuredNone      = "none"
)

// ensureContact finds the contact with the sender's address and fills in what it lacks, or makes it. It always answers
// with contact.ensured, whose contact need not be the one asked for.
func (r *Room) ensureContact(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.EnsureContact) error {
	requested, err := uuid.Parse(m.GetContactId())
	if err != nil {
		return err
	}
	// An erasure that runs has ended before it is asked about, and one that follows finds the contact.
	if err := contact.LockAddresses(ctx, tx, address.Key(m.GetEmail())); err != nil {
		return err
	}
	if gone, err := r.outlived(ctx, tx, e, m); err != nil || gone {
		return err
	}
	given, err := r.ensured(ctx, tx, m)
	if err != nil {
		return fmt.Errorf("read what %s %s says about a contact: %w", m.GetOrigin(), m.GetOriginId(), err)
	}
	// The id may come to mean another contact: ids are locked before contacts.
	if err := contact.PinAlone(ctx, tx, requested); err != nil {
		return err
	}
	before, err := answered(ctx, tx, m)
	if err != nil {
		return err
	}
	if before != nil {
		return emitAnswer(ctx, tx, m, *before)
	}
	c, result, err := r.findOrMake(ctx, tx, requested, given, m.GetCreate())
	if err != nil {
		return fmt.Errorf("find or make contact %s: %w", requested, err)
	}
	if result == ensuredNone {
		return giveAnswer(ctx, tx, m, answer{nil, result})
	}
	if requested != c {
		// Records under the requested id belong to the contact, those that arrived and those that will.
		if err := r.aliasUnlessContact(ctx, tx, requested, c); err != nil {
			return fmt.Errorf("file what comes for %s under %s: %w", requested, c, err)
		}
	}
	linked, err := r.ensureOrganization(ctx, tx, c, m)
	if err != nil {
		return fmt.Errorf("link contact %s with an organization: %w", c, err)
	}
	asked, err := r.marketing.RecordConsents(ctx, tx, c, m.GetConsents(), m.GetLanguage())
	if err != nil {
		return fmt.Errorf("record consents of contact %s: %w", c, err)
	}
	if result == ensuredUnchanged && (linked || asked) {
		result = ensuredUpdated
	}
	return giveAnswer(ctx, tx, m, answer{&c, result})
}

// emitAnswer publishes the answer to a command.
func emitAnswer(ctx context.Context, tx *db.Tx, m *proto.EnsureContact, a answer) error {
	extra := &proto.Ensured{Origin: m.GetOrigin(), OriginId: m.GetOriginId(), RequestedId: m.GetContactId(), Result: a.Result}
	if a.ContactID == nil {
		// No tombstone ever ends this key of the topic, so the event must not name a person.
		tx.Who.Label = ""
		return tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: m.GetContactId(),
			Data: json.RawMessage("null"), Extra: extra})
	}
	extra.ContactId = a.ContactID.String()
	_, err := contact.Emit(ctx, tx, proto.KindContactEnsured, *a.ContactID, nil, extra)
	return err
}

// findOrMake gives the contact that a command means, filled in with given or, if create allows it, made of given.
func (r *Room) findOrMake(ctx context.Context, tx *db.Tx, requested uuid.UUID, given contact.Contact, create bool) (id uuid.UUID, result string, err error) {
	key := address.Key(given.Email)
	found, used, err := findEnsured(ctx, tx, requested, key)
	if err != nil {
		return found, "", err
	}
	if found == uuid.Nil {
		if !create || contact.Nameless(given) != nil {
			return found, ensuredNone, nil
		}
		if given.ID = requested; used {
			given.ID = db.NewID()
		}
		if _, err = r.people.Insert(ctx, tx, given); !errors.Is(err, contact.ErrTaken) {
			return given.ID, ensuredCreated, err
		}
		// Somebody made a contact with the address at this very moment: that one is filled in.
		h, err := contact.LockWithEmail(ctx, tx, key)
		if err != nil {
			return found, "", err
		}
		found = h.ID
	}
	old, err := contact.Lock(ctx, tx, found)
	if err != nil {
		return found, "", err
	}
	c := contact.Fields.Fill(old, given)
	if field.TooMuch(c.Fields) {
		c.Fields = old.Fields
	}
	_, changed, err := r.people.Save(ctx, tx, old, c, "Contact filled in")
	if changed {
		return found, ensuredUpdated, err
	}
	return found, ensuredUnchanged, err
}

// aliasUnlessContact makes id mean target, unless a contact has the id.
func (r *Room) aliasUnlessContact(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	var taken bool
	if err := tx.QueryRow(ctx, `select exists (select from contact where id = $1)`, id).Scan(&taken); err != nil || taken {
		return err
	}
	return alias(ctx, tx, id, target)
}

// ensured is the contact that a command describes, in stored form. Values that the rules refuse are left out, because the
// visitor can no longer correct them.
func (r *Room) ensured(ctx context.Context, tx *db.Tx, m *proto.EnsureContact) (contact.Contact, error) {
	var values map[string]any
	if len(m.GetFields()) > 0 {
		if err := json.Unmarshal(m.GetFields(), &values); err != nil {
			return contact.Contact{}, err
		}
	}
	clean, err := r.field.CleanerFor(ctx, tx, "contact", opt.Of(values))
	if err != nil {
		return contact.Contact{}, err
	}
	c := contact.Contact{FirstName: cut(person.Name(m.GetFirstName()), 100), LastName: cut(person.Name(m.GetLastName()), 100), Email: clean.Email(m.GetEmail()),
		Phone: cut(clean.Phone(m.GetPhone()), 50), Source: cut(person.Name(m.GetSource()), 50), Fields: clean.Values(values)}
	if status := m.GetStatus(); slices.Contains(contact.Statuses, status) {
		c.Status = status
	}
	if owner := m.GetOwnerUserId(); owner != 0 && r.Identity.OnTeam(owner) {
		c.OwnerUserID = &owner
	}
	if field.TooMuch(c.Fields) {
		c.Fields = nil
	}
	tags := make([]string, 0, len(m.GetTags()))
	for _, t := range m.GetTags() {
		tags = append(tags, cut(t, field.MaxTag))
	}
	c.Tags, err = tag.Names(ctx, tx, tags)
	return c, err
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// findEnsured locks the contact that a command means: the one with the address or, for a command without an address, the
// one with the id. found is uuid.Nil if no contact fits. used reports whether the id is or was a contact's.
func findEnsured(ctx context.Context, tx *db.Tx, requested uuid.UUID, key string) (found uuid.UUID, used bool, err error) {
	var id, target *uuid.UUID
	err = tx.QueryRow(ctx, `
		select (select id from contact where email_key = $2 and deleted_at is null and email_key <> '' for no key update),
			exists (select from contact where id = $1) or a.id is not null, case when a.id is null then $1 else a.target end
		from (select) one left join contact_alias a on a.id = $1`, requested, key).Scan(&id, &used, &target)
	if err != nil {
		return uuid.Nil, used, err
	}
	if id != nil {
		return *id, used, nil
	}
	if key != "" || target == nil {
		return uuid.Nil, used, nil
	}
	err = tx.QueryRow(ctx, `select id from contact where id = $1 and deleted_at is null for no key update`, *target).Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return found, used, err
}

// ensureOrganization links the contact with the organization that a visitor named: the oldest of that name,
// or a new one. What the organization lacks is filled in.
func (r *Room) ensureOrganization(ctx context.Context, tx *db.Tx, contactID uuid.UUID, m *proto.EnsureContact) (linked bool, err error) {
	name := cut(person.Name(m.GetOrganizationName()), 190)
	if name == "" {
		return false, nil
	}
	given, err := r.ensuredOrganization(ctx, tx, name, m.GetOrganization())
	if err != nil {
		return false, err
	}
	c, err := contact.Lock(ctx, tx, contactID)
	if err != nil {
		return false, err
	}
	// Two visitors of one new organization make it once.
	if err := tx.Lock(ctx, "contacts.organization_name", person.NameKey(name)); err != nil {
		return false, err
	}
	var id uuid.UUID
	err = tx.QueryRow(ctx, `select id from organization where deleted_at is null and name_key <> '' and name_key = $1
		order by lower(name) = lower($2) desc, created_at, id limit 1`, person.NameKey(name), name).Scan(&id)
	var o organization.Organization
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		o, err = organization.Insert(ctx, tx, given)
	case err == nil:
		var old organization.Organization
		if old, err = organization.Lock(ctx, tx, id); err != nil {
			return false, err
		}
		o = organization.Merged(old, given)
		err = organization.Save(ctx, tx, old, o, "Organization filled in")
	}
	if err != nil {
		return false, err
	}
	var already, hasPrimary bool
	if err := tx.QueryRow(ctx, `select coalesce(bool_or(organization_id = $2), false), coalesce(bool_or(is_primary), false) from contact_organization
		where contact_id = $1`, contactID, o.ID).Scan(&already, &hasPrimary); err != nil || already {
		return false, err
	}
	return link.Set(ctx, tx, c, o, "", !hasPrimary)
}

// ensuredOrganization is the organization that a command describes, by names of fields. Values that the rules refuse are
// left out.
func (r *Room) ensuredOrganization(ctx context.Context, tx *db.Tx, name string, raw []byte) (organization.Organization, error) {
	values := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &values); err != nil {
			return organization.Organization{}, err
		}
	}
	clean, err := r.field.NewCleaner(ctx, tx, "organization")
	if err != nil {
		return organization.Organization{}, err
	}
	text := func(key string, most int) string { v, _ := values[key].(string); return cut(person.Name(v), most) }
	custom, _ := values["fields"].(map[string]any)
	if custom == nil {
		custom = map[string]any{}
	}
	for k, v := range values {
		if key, ok := strings.CutPrefix(k, "fields."); ok {
			custom[key] = v
		}
	}
	return organization.Organization{ID: db.NewID(), Name: name, VATNumber: person.VAT(text("vat_number", 30)), Email: clean.Email(text("email", 190)),
		Phone: cut(clean.Phone(text("phone", 50)), 50), Website: clean.Website(text("website", 2048)), AddressLine: text("address_line", 255),
		PostalCode: text("postal_code", 20), City: text("city", 100), Country: clean.Country(text("country", 2)), Fields: clean.Values(custom)}, nil
}

// outlived reports whether a command to make or fill in a contact is older than the erasure of its person. Such a command
// must not bring the person back; outlived then asks the sender to forget its part of the request, too.
func (r *Room) outlived(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.EnsureContact) (bool, error) {
	key := address.Key(m.GetEmail())
	if key == "" {
		return false, nil
	}
	gone, err := tx.Forgotten(ctx, e.At, r.Keys.Person(key))
	if err != nil || !gone {
		return false, err
	}
	forget := &proto.ForgetPerson{Ids: []string{m.GetContactId()}}
	return true, tx.Emit(ctx, db.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: db.NewID().String(), Data: forget})
}
