// Package definition holds what a form is: its definition, checked whole, the templates it can start from, and the signs of
// spam in what visitors send. Its elements and the check of answers are those of libs/form. It keeps no state and reads
// nothing.
//
// Time and memory are bounded: a definition has at most maxBytes of JSON and MaxElements elements.
package definition

import (
	"encoding/json"
	"fmt"
	"slices"

	"frontdesk/libs/form"
)

// The limits of a definition, in characters where they count text.
const (
	maxBytes    = 256 << 10
	MaxElements = 100
	MaxSource   = 50

	maxLabel       = 190
	maxPlaceholder = 190
	maxHelp        = 500
	maxHeading     = 190
	maxParagraph   = 5000
	maxConsent     = 2000
	maxPurpose     = 50
	maxID          = 50
	maxTarget      = 300
	maxSubmitLabel = 100
	maxMessage     = 2000
	maxEmails      = 20
	maxTags        = 20
	maxTag         = 100
	maxUser        = 1 << 53
)

// Definition is what a form consists of, as the API shows and takes it.
type Definition struct {
	Elements    []form.Element `json:"elements" doc:"Fields, texts and consents, in their order."`
	SubmitLabel string         `json:"submit_label" doc:"The words on the button."`
	AfterSubmit AfterSubmit    `json:"after_submit"`
	Notify      Notify         `json:"notify"`
	NewContacts NewContacts    `json:"new_contacts"`
	// Style overrides the site's form style: numbers of pixels and weights are ints, all else strings.
	Style map[string]any `json:"style" doc:"Differences from the form style of the site."`
}

// AfterSubmit is what the visitor gets after sending: a message, or another page.
type AfterSubmit struct {
	Type    string `json:"type" doc:"message, or redirect."` // message or redirect
	Message string `json:"message" doc:"What visitors read then."`
	URL     string `json:"url" doc:"Where visitors are led; empty for a message."` // https
}

// Notify says who gets a mail for each submission: these addresses, and the owner of the contact.
type Notify struct {
	Emails []string `json:"emails" doc:"Addresses that get a mail for each submission."`
	Owner  bool     `json:"owner" doc:"The owner of the contact gets a mail."`
}

// NewContacts is how a contact is made from a submission. Without Create only contacts that exist are filled in.
type NewContacts struct {
	Create      bool     `json:"create" doc:"A submission makes a contact."`
	Status      string   `json:"status" doc:"The status of new contacts."`
	Source      string   `json:"source" doc:"Where new contacts came from; the name of the form when empty."`
	OwnerUserID *int64   `json:"owner_user_id" doc:"Who looks after new contacts; null for nobody."`
	Tags        []string `json:"tags" doc:"Tags that contacts get."`
}

// HasField reports whether a visitor can answer anything: a form without a field cannot be published.
func (d Definition) HasField() bool {
	return slices.ContainsFunc(d.Elements, func(e form.Element) bool { return e.Type == form.TypeField })
}

// Load reads a definition that Parse accepted earlier.
func Load(raw json.RawMessage) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return Definition{}, fmt.Errorf("definition: not what Parse accepts: %w", err)
	}
	for name, value := range d.Style {
		if n, ok := value.(float64); ok {
			d.Style[name] = int(n)
		}
	}
	return d, nil
}
