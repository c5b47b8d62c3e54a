// Package definition holds what a form is: its definition, checked whole, the templates it can start from,
// the check of what a visitor sends, and the signs of spam in it. It keeps no state and reads nothing.
//
// Time and memory are bounded: a definition has at most MaxBytes of JSON and MaxElements elements, an answer at
// most MaxLongText characters, and no check looks at a text more than a fixed number of times.
package definition

// The limits of a definition, in characters where they count text.
const (
	MaxBytes       = 256 << 10
	MaxElements    = 100
	MaxOptions     = 200
	MaxOption      = 190
	MaxLabel       = 190
	MaxPlaceholder = 190
	MaxHelp        = 500
	MaxHeading     = 190
	MaxParagraph   = 5000
	MaxConsent     = 2000
	MaxPurpose     = 50
	MaxID          = 50
	MaxSubmitLabel = 100
	MaxMessage     = 2000
	MaxURL         = 2048
	MaxEmails      = 20
	MaxTags        = 20
	MaxTag         = 100
	MaxSource      = 50
)

// Definition is what a form consists of, as the API shows and takes it.
type Definition struct {
	Elements    []Element   `json:"elements"`
	SubmitLabel string      `json:"submit_label"`
	AfterSubmit AfterSubmit `json:"after_submit"`
	Notify      Notify      `json:"notify"`
	NewContacts NewContacts `json:"new_contacts"`
	// Style overrides the site's form style: numbers of pixels and weights are ints, all else strings.
	Style map[string]any `json:"style"`
}

// Types of elements.
const (
	TypeField     = "field"
	TypeHeading   = "heading"
	TypeParagraph = "paragraph"
	TypeConsent   = "consent"
)

// Element is one part of a form, from top to bottom. Which keys count depends on the type: a field has
// target, label, help, required, options, placeholder and width; a heading text, level and width; a
// paragraph text and width; a consent text, label, help, required, marketing, purpose and width.
type Element struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Target      string   `json:"target,omitempty"`
	Label       string   `json:"label,omitempty"`
	Help        string   `json:"help,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Options     []string `json:"options,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Width       string   `json:"width,omitempty"`
	Text        string   `json:"text,omitempty"`
	Level       int      `json:"level,omitempty"`
	Marketing   bool     `json:"marketing,omitempty"`
	Purpose     string   `json:"purpose,omitempty"`

	input input
}

// AfterSubmit is what the visitor gets after sending: a message, or another page.
type AfterSubmit struct {
	Type    string `json:"type"` // message or redirect
	Message string `json:"message"`
	URL     string `json:"url"` // https
}

// Notify says who gets a mail for each submission: these addresses, and the owner of the contact.
type Notify struct {
	Emails []string `json:"emails"`
	Owner  bool     `json:"owner"`
}

// NewContacts is how a contact is made from a submission. Without Create only contacts that exist are filled in.
type NewContacts struct {
	Create      bool     `json:"create"`
	Status      string   `json:"status"`
	Source      string   `json:"source"`
	OwnerUserID *int64   `json:"owner_user_id"`
	Tags        []string `json:"tags"`
}

// Field is a custom field that targets can name.
type Field struct {
	Entity   string // contact, organization or submission
	Key      string
	Label    string
	Type     string // one of the ten types of custom fields
	Options  []string
	Archived bool
}

// NeedsEmail tells whether every submission carries the visitor's address: whether the form has a required
// element for contact.email. Forms for booking must.
func NeedsEmail(d Definition) bool {
	for i := range d.Elements {
		if e := &d.Elements[i]; e.Type == TypeField && e.Target == "contact.email" && e.Required {
			return true
		}
	}
	return false
}
