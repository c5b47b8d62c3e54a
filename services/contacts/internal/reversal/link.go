package reversal

import "github.com/google/uuid"

// Link is a link of a contact with an organization as it was.
type Link struct {
	Organization, Contact uuid.UUID
	Role                  string
	Primary               bool
}

// Step is the operation that brings the link back, with its input: if it was not there, the one that ends it. Without an organization there is no operation.
func (l Link) Step(there bool) (operation string, input map[string]any) {
	in := map[string]any{"id": l.Organization, "contact_id": l.Contact}
	switch {
	case l.Organization == uuid.Nil:
		return "", nil
	case !there:
		return "unlink-contact-organization", in
	}
	in["role"], in["is_primary"] = l.Role, l.Primary
	return "link-contact-organization", in
}
