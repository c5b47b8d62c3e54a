package form

import (
	"encoding/json"
	"maps"

	"frontdesk/proto"
)

// EnsureContact returns the part of the command to contacts that the answers give: the person, custom fields, organization
// and consents. The caller adds id, origin, source, status and owner.
func (a Answers) EnsureContact() *proto.EnsureContact {
	c := &proto.EnsureContact{Email: a.Contact.Email, FirstName: a.Contact.FirstName, LastName: a.Contact.LastName, Phone: a.Contact.Phone,
		Fields: encoded(a.contactFields), OrganizationName: a.Organization["name"]}
	organization := maps.Clone(a.Organization)
	delete(organization, "name")
	c.Organization = encoded(organization)
	for _, consent := range a.Consents {
		c.Consents = append(c.Consents, &proto.Consent{Purpose: consent.Purpose, Text: consent.Text, Marketing: consent.Marketing})
	}
	return c
}

// encoded is a map of checked answers as JSON; nil for an empty map.
func encoded[V any](m map[string]V) []byte {
	if len(m) == 0 {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // checked answers are texts, numbers, booleans and lists of texts
	}
	return raw
}
