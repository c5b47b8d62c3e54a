package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/person"
)

// Results of EnsureContact, as contact.ensured tells them.
const (
	ensuredCreated   = "created"
	ensuredUpdated   = "updated"
	ensuredUnchanged = "unchanged"
	ensuredNone      = "none"
)

// ensured is the extra part of contact.ensured: the answer to the record that asked.
type ensured struct {
	Origin      string `json:"origin"`
	OriginID    string `json:"origin_id"`
	RequestedID string `json:"requested_id"`
	ContactID   string `json:"contact_id"`
	Result      string `json:"result"`
}

// ensureContact finds the contact with the sender's address and fills in what it lacks, or makes it. It
// always answers with contact.ensured, whose contact need not be the one asked for.
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
	answer := ensured{Origin: m.GetOrigin(), OriginID: m.GetOriginId(), RequestedID: m.GetContactId(), Result: ensuredNone}
	given, values, err := s.given(ctx, tx, &m)
	if err != nil {
		return err
	}
	found, used, err := findEnsured(ctx, tx, requested, address.Key(given.Email))
	if err != nil {
		return err
	}
	if found == uuid.Nil && (!m.GetCreate() || nameless(given) != nil) {
		return tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: "contact.ensured", Key: requested.String(),
			Data: json.RawMessage("null"), Extra: answer})
	}
	var made Contact
	if found == uuid.Nil {
		given.ID, given.Fields = requested, mergeFields(nil, values, false)
		if used {
			given.ID = db.NewID()
		}
		made, err = s.insertContact(ctx, tx, given)
		found, answer.Result = given.ID, ensuredCreated
		if errors.Is(err, errTaken) {
			// Somebody made a contact with the address at this very moment: that one is filled in.
			made = Contact{}
			found, _, err = contactWithEmail(ctx, tx, address.Key(given.Email), " for no key update")
		}
		if err != nil {
			return err
		}
	}
	if made.ID == uuid.Nil {
		if answer.Result, err = s.fillEnsured(ctx, tx, found, given, values); err != nil {
			return err
		}
	}
	if requested != found {
		// Whatever came or comes for the id that was asked for belongs to the contact.
		if live, err := exists(ctx, tx, requested); err != nil {
			return err
		} else if !live {
			if err := alias(ctx, tx, requested, found); err != nil {
				return err
			}
		}
	}
	linked, err := s.ensureOrganization(ctx, tx, found, &m)
	if err != nil {
		return err
	}
	asked, err := s.takeConsents(ctx, tx, found, m.GetConsents())
	if err != nil {
		return err
	}
	if answer.Result == ensuredUnchanged && (linked || asked) {
		answer.Result = ensuredUpdated
	}
	answer.ContactID = found.String()
	if made.ID != uuid.Nil && !linked && !asked {
		return tx.Emit(ctx, contactEvent("contact.ensured", made, nil, answer))
	}
	_, err = emitContact(ctx, tx, "contact.ensured", found, nil, answer)
	return err
}

// given is the contact that a command describes, with values that the rules allow. What a form let through
// and we cannot store is left out: there is nobody to tell any more.
func (s *service) given(ctx context.Context, tx *db.Tx, m *proto.EnsureContact) (Contact, map[string]any, error) {
	var values map[string]any
	if len(m.GetFields()) > 0 {
		if err := json.Unmarshal(m.GetFields(), &values); err != nil {
			return Contact{}, nil, err
		}
	}
	clean, err := s.newCleaner(ctx, tx, "contact", len(values) > 0)
	if err != nil {
		return Contact{}, nil, err
	}
	c := Contact{FirstName: cut(person.Name(m.GetFirstName()), 100), LastName: cut(person.Name(m.GetLastName()), 100),
		Email: clean.email("email", m.GetEmail()), Phone: cut(clean.phone(m.GetPhone()), 50), Status: m.GetStatus(), Source: cut(person.Name(m.GetSource()), 50)}
	if !slices.Contains(statuses, c.Status) {
		c.Status = "lead"
	}
	if owner := m.GetOwnerUserId(); owner != 0 && s.Identity.OnTeam(owner) {
		c.OwnerUserID = &owner
	}
	tags := make([]string, 0, len(m.GetTags()))
	for _, t := range m.GetTags() {
		tags = append(tags, cut(t, 100))
	}
	if c.Tags, err = tagNames(ctx, tx, tags); err != nil {
		return c, nil, err
	}
	stored := clean.values(values)
	if tooMuch(stored) {
		stored = nil
	}
	return c, stored, nil
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// findEnsured is the contact, locked, that a command means: the one with the address, else, without an
// address, the one with the id. uuid.Nil when there is none. used tells whether the id is or was a contact's.
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

func exists(ctx context.Context, tx *db.Tx, id uuid.UUID) (yes bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from contact where id = $1)`, id).Scan(&yes)
	return yes, err
}

// fillEnsured fills what a locked contact lacks and adds tags.
func (s *service) fillEnsured(ctx context.Context, tx *db.Tx, id uuid.UUID, given Contact, values map[string]any) (string, error) {
	old, err := lockContact(ctx, tx, id)
	if err != nil {
		return "", err
	}
	c := old
	for _, f := range []struct {
		target *string
		value  string
	}{{&c.FirstName, given.FirstName}, {&c.LastName, given.LastName}, {&c.Phone, given.Phone}, {&c.Source, given.Source}} {
		if *f.target == "" {
			*f.target = f.value
		}
	}
	if c.OwnerUserID == nil {
		c.OwnerUserID = given.OwnerUserID
	}
	c.Tags = withTags(old.Tags, given.Tags)
	if c.Fields = mergeFields(old.Fields, values, true); tooMuch(c.Fields) {
		c.Fields = old.Fields
	}
	changed, err := s.saveContactAs(ctx, tx, old, c, entryUpdated, "Contact filled in")
	if changed {
		return ensuredUpdated, err
	}
	return ensuredUnchanged, err
}

// ensureOrganization links the contact with the organization that a visitor named: the oldest of that name,
// or a new one. What the organization lacks is filled in.
func (s *service) ensureOrganization(ctx context.Context, tx *db.Tx, contact uuid.UUID, m *proto.EnsureContact) (linked bool, err error) {
	name := cut(person.Name(m.GetOrganizationName()), 190)
	if name == "" {
		return false, nil
	}
	given, values, err := s.givenOrganization(ctx, tx, name, m.GetOrganization())
	if err != nil {
		return false, err
	}
	c, err := lockContact(ctx, tx, contact)
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
		given.Fields = mergeFields(nil, values, false)
		o, err = insertOrganization(ctx, tx, given)
	case err == nil:
		var old Organization
		if old, err = lockOrganization(ctx, tx, id); err != nil {
			return false, err
		}
		o, _ = fillOrganization(old, given)
		if o.Fields = mergeFields(old.Fields, values, true); tooMuch(o.Fields) {
			o.Fields = old.Fields
		}
		_, err = saveOrganization(ctx, tx, old, o, "Organization filled in")
	}
	if err != nil {
		return false, err
	}
	var already, hasPrimary bool
	if err := tx.QueryRow(ctx, `select coalesce(bool_or(organization_id = $2), false), coalesce(bool_or(is_primary), false) from contact_organization
		where contact_id = $1`, contact, o.ID).Scan(&already, &hasPrimary); err != nil || already {
		return false, err
	}
	return setLink(ctx, tx, c, o, "", !hasPrimary)
}

// givenOrganization reads the organization values of a command, by target name; what the rules do not allow
// is left out.
func (s *service) givenOrganization(ctx context.Context, tx *db.Tx, name string, raw []byte) (Organization, map[string]any, error) {
	values := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &values); err != nil {
			return Organization{}, nil, err
		}
	}
	clean, err := s.newCleaner(ctx, tx, "organization", true)
	if err != nil {
		return Organization{}, nil, err
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
	return Organization{ID: db.NewID(), Name: name, VATNumber: person.VAT(text("vat_number", 30)), Email: clean.email("email", text("email", 190)),
		Phone: cut(clean.phone(text("phone", 50)), 50), Website: clean.website(text("website", 2048)), AddressLine: text("address_line", 255),
		PostalCode: text("postal_code", 20), City: text("city", 100), Country: clean.country(text("country", 2))}, clean.values(custom), nil
}
