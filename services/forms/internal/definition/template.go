package definition

import "frontdesk/libs/form"

// Template is a form to start from.
type Template struct {
	Key         string
	Name        string
	Description string
	Definition  Definition
	// Fields are the custom fields that the definition needs and a site may not have yet.
	Fields []form.Field
}

// Templates gives the forms to start from, in the order to show them. The caller owns the answer.
func Templates() []Template {
	firstName := form.Element{ID: "first_name", Type: form.TypeField, Target: "contact.first_name", Label: "First name", Required: true, Width: "half"}
	lastName := form.Element{ID: "last_name", Type: form.TypeField, Target: "contact.last_name", Label: "Last name", Width: "half"}
	email := form.Element{ID: "email", Type: form.TypeField, Target: "contact.email", Label: "Email", Required: true, Width: "full"}
	phone := form.Element{ID: "phone", Type: form.TypeField, Target: "contact.phone", Label: "Phone", Width: "full"}
	organization := form.Element{ID: "organization", Type: form.TypeField, Target: "organization.name", Label: "Organization", Width: "full"}
	message := form.Element{ID: "message", Type: form.TypeField, Target: "submission.fields.message", Label: "Message", Required: true, Width: "full"}
	privacy := form.Element{ID: "privacy", Type: form.TypeConsent, Required: true, Purpose: "privacy", Width: "full",
		Text: "I agree that my details are kept to answer this message."}
	messageField := form.Field{Entity: "submission", Key: "message", Label: "Message", Type: form.KindLongText}

	required := func(e form.Element) form.Element { e.Required = true; return e }
	labelled := func(e form.Element, label string) form.Element { e.Label = label; return e }

	callTime := []string{"Morning", "Afternoon", "Evening"}
	return []Template{
		{
			Key: "contact", Name: "Contact", Description: "A question or a message, with the details to answer it.",
			Definition: start("Send", "Thank you. We have your message and will answer soon.", "Contact form",
				firstName, lastName, email, phone, message, privacy),
			Fields: []form.Field{messageField},
		},
		{
			Key: "quote_request", Name: "Quote request", Description: "What somebody needs a price for, by when, and for which organization.",
			Definition: start("Request a quote", "Thank you. We will send you a quote soon.", "Quote request",
				firstName, lastName, organization, email, phone,
				labelled(message, "What do you need?"),
				form.Element{ID: "wanted_by", Type: form.TypeField, Target: "submission.fields.wanted_by", Label: "Needed by", Width: "half"},
				form.Element{ID: "budget", Type: form.TypeField, Target: "submission.fields.budget", Label: "Budget", Width: "half"},
				privacy),
			Fields: []form.Field{
				messageField,
				{Entity: "submission", Key: "wanted_by", Label: "Needed by", Type: form.KindDate},
				{Entity: "submission", Key: "budget", Label: "Budget", Type: form.KindText},
			},
		},
		{
			Key: "callback_request", Name: "Callback request", Description: "A phone number and the time of day to call it.",
			Definition: start("Call me back", "Thank you. We will call you.", "Callback request",
				firstName, lastName, required(phone),
				form.Element{ID: "call_time", Type: form.TypeField, Target: "submission.fields.call_time", Label: "Best time to call", Options: callTime, Width: "full"},
				form.Element{ID: "subject", Type: form.TypeField, Target: "submission.fields.subject", Label: "What is it about?", Width: "full"},
				privacy),
			Fields: []form.Field{
				{Entity: "submission", Key: "call_time", Label: "Best time to call", Type: form.KindDropdown, Options: callTime},
				{Entity: "submission", Key: "subject", Label: "Subject", Type: form.KindText},
			},
		},
		{
			Key: "newsletter", Name: "Newsletter", Description: "An address for the newsletter, confirmed by mail.",
			Definition: start("Subscribe", "Almost there: open the mail we sent you and confirm your address.", "Newsletter",
				labelled(form.Element{ID: "first_name", Type: form.TypeField, Target: "contact.first_name", Width: "full"}, "First name"),
				email,
				form.Element{ID: "newsletter", Type: form.TypeConsent, Required: true, Marketing: true, Purpose: "newsletter", Width: "full",
					Text: "I want to receive the newsletter. I can unsubscribe at any time."}),
		},
	}
}

func start(submit, thanks, source string, elements ...form.Element) Definition {
	return Definition{
		Elements:    elements,
		SubmitLabel: submit,
		AfterSubmit: AfterSubmit{Type: "message", Message: thanks},
		Notify:      Notify{Emails: []string{}},
		NewContacts: NewContacts{Create: true, Status: "lead", Source: source, Tags: []string{}},
		Style:       map[string]any{},
	}
}
