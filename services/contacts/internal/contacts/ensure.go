package contacts

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
	"frontdesk/services/contacts/internal/person"
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
func (s *service) ensureContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	var m proto.EnsureContact
	if err := e.Decode(&m); err != nil {
		return err
	}
	requested, err := uuid.Parse(m.GetContactId())
	if err != nil {
		return err
	}
	if gone, err := s.outlived(ctx, tx, e, &m); err != nil || gone {
		return err
	}
	given, err := s.ensured(ctx, tx, &m)
	if err != nil {
		return fmt.Errorf("read what %s %s says about a contact: %w", m.GetOrigin(), m.GetOriginId(), err)
	}
	// The id may come to mean another contact: ids are locked before contacts.
	if err := pinAlone(ctx, tx, requested); err != nil {
		return err
	}
	before, err := answered(ctx, tx, &m)
	if err != nil {
		return err
	}
	if before != nil {
		return emitAnswer(ctx, tx, &m, *before)
	}
	c, result, err := s.findOrMake(ctx, tx, requested, given, m.GetCreate())
	if err != nil {
		return fmt.Errorf("find or make contact %s: %w", requested, err)
	}
	if result == ensuredNone {
		return giveAnswer(ctx, tx, &m, answer{nil, result})
	}
	if requested != c {
		// Records under the requested id belong to the contact, those that arrived and those that will.
		if err := s.aliasUnlessContact(ctx, tx, requested, c); err != nil {
			return fmt.Errorf("file what comes for %s under %s: %w", requested, c, err)
		}
	}
	linked, err := s.ensureOrganization(ctx, tx, c, &m)
	if err != nil {
		return fmt.Errorf("link contact %s with an organization: %w", c, err)
	}
	asked, err := s.recordConsents(ctx, tx, c, m.GetConsents())
	if err != nil {
		return fmt.Errorf("record consents of contact %s: %w", c, err)
	}
	if result == ensuredUnchanged && (linked || asked) {
		result = ensuredUpdated
	}
	return giveAnswer(ctx, tx, &m, answer{&c, result})
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
	_, err := emitContact(ctx, tx, proto.KindContactEnsured, *a.ContactID, nil, extra)
	return err
}

// findOrMake gives the contact that a command means, filled in with given or, if create allows it, made of given.
func (s *service) findOrMake(ctx context.Context, tx *db.Tx, requested uuid.UUID, given Contact, create bool) (id uuid.UUID, result string, err error) {
	key := address.Key(given.Email)
	found, used, err := findEnsured(ctx, tx, requested, key)
	if err != nil {
		return found, "", err
	}
	if found == uuid.Nil {
		if !create || nameless(given) != nil {
			return found, ensuredNone, nil
		}
		if given.ID = requested; used {
			given.ID = db.NewID()
		}
		if _, err = s.insertContact(ctx, tx, given); !errors.Is(err, errTaken) {
			return given.ID, ensuredCreated, err
		}
		// Somebody made a contact with the address at this very moment: that one is filled in.
		h, err := lockContactWithEmail(ctx, tx, key)
		if err != nil {
			return found, "", err
		}
		found = h.ID
	}
	old, err := lockContact(ctx, tx, found)
	if err != nil {
		return found, "", err
	}
	c := contactFields.Fill(old, given)
	if tooMuch(c.Fields) {
		c.Fields = old.Fields
	}
	_, changed, err := s.saveContact(ctx, tx, old, c, "Contact filled in")
	if changed {
		return found, ensuredUpdated, err
	}
	return found, ensuredUnchanged, err
}

// aliasUnlessContact makes id mean target, unless a contact has the id.
func (s *service) aliasUnlessContact(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	var taken bool
	if err := tx.QueryRow(ctx, `select exists (select from contact where id = $1)`, id).Scan(&taken); err != nil || taken {
		return err
	}
	return alias(ctx, tx, id, target)
}

// ensured is the contact that a command describes, in stored form. Values that the rules refuse are left out, because the
// visitor can no longer correct them.
func (s *service) ensured(ctx context.Context, tx *db.Tx, m *proto.EnsureContact) (Contact, error) {
	var values map[string]any
	if len(m.GetFields()) > 0 {
		if err := json.Unmarshal(m.GetFields(), &values); err != nil {
			return Contact{}, err
		}
	}
	clean, err := s.cleanerFor(ctx, tx, "contact", opt.Of(values))
	if err != nil {
		return Contact{}, err
	}
	c := Contact{FirstName: cut(person.Name(m.GetFirstName()), 100), LastName: cut(person.Name(m.GetLastName()), 100), Email: clean.email(m.GetEmail()),
		Phone: cut(clean.phone(m.GetPhone()), 50), Source: cut(person.Name(m.GetSource()), 50), Fields: clean.values(values)}
	if status := m.GetStatus(); slices.Contains(contactStatuses, status) {
		c.Status = status
	}
	if owner := m.GetOwnerUserId(); owner != 0 && s.Identity.OnTeam(owner) {
		c.OwnerUserID = &owner
	}
	if tooMuch(c.Fields) {
		c.Fields = nil
	}
	tags := make([]string, 0, len(m.GetTags()))
	for _, t := range m.GetTags() {
		tags = append(tags, cut(t, maxTag))
	}
	c.Tags, err = tagNames(ctx, tx, tags)
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
func (s *service) ensureOrganization(ctx context.Context, tx *db.Tx, contactID uuid.UUID, m *proto.EnsureContact) (linked bool, err error) {
	name := cut(person.Name(m.GetOrganizationName()), 190)
	if name == "" {
		return false, nil
	}
	given, err := s.ensuredOrganization(ctx, tx, name, m.GetOrganization())
	if err != nil {
		return false, err
	}
	c, err := lockContact(ctx, tx, contactID)
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
	var o Organization
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		o, err = insertOrganization(ctx, tx, given)
	case err == nil:
		var old Organization
		if old, err = lockOrganization(ctx, tx, id); err != nil {
			return false, err
		}
		o = mergedOrganization(old, given)
		err = saveOrganization(ctx, tx, old, o, "Organization filled in")
	}
	if err != nil {
		return false, err
	}
	var already, hasPrimary bool
	if err := tx.QueryRow(ctx, `select coalesce(bool_or(organization_id = $2), false), coalesce(bool_or(is_primary), false) from contact_organization
		where contact_id = $1`, contactID, o.ID).Scan(&already, &hasPrimary); err != nil || already {
		return false, err
	}
	return setLink(ctx, tx, c, o, "", !hasPrimary)
}

// ensuredOrganization is the organization that a command describes, by names of fields. Values that the rules refuse are
// left out.
func (s *service) ensuredOrganization(ctx context.Context, tx *db.Tx, name string, raw []byte) (Organization, error) {
	values := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &values); err != nil {
			return Organization{}, err
		}
	}
	clean, err := s.newCleaner(ctx, tx, "organization")
	if err != nil {
		return Organization{}, err
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
	return Organization{ID: db.NewID(), Name: name, VATNumber: person.VAT(text("vat_number", 30)), Email: clean.email(text("email", 190)),
		Phone: cut(clean.phone(text("phone", 50)), 50), Website: clean.website(text("website", 2048)), AddressLine: text("address_line", 255),
		PostalCode: text("postal_code", 20), City: text("city", 100), Country: clean.country(text("country", 2)), Fields: clean.values(custom)}, nil
}

// outlived reports whether a command to make or fill in a contact is older than the erasure of its person. Such a command
// must not bring the person back; outlived then asks the sender to forget its part of the request, too.
func (s *service) outlived(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.EnsureContact) (bool, error) {
	key := address.Key(m.GetEmail())
	if key == "" {
		return false, nil
	}
	gone, err := tx.Forgotten(ctx, e.At, s.Keys.Person(key))
	if err != nil || !gone {
		return false, err
	}
	forget := &proto.ForgetPerson{Ids: []string{m.GetContactId()}}
	return true, tx.Emit(ctx, db.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: db.NewID().String(), Data: forget})
}
