package booking

import (
	"encoding/json"
	"maps"
	"slices"

	"frontdesk/libs/bus"
	"frontdesk/libs/form"
	"frontdesk/proto"
)

// details are the checked answers of the details step.
type details struct {
	client  client
	answers form.Answers
	raw     []byte // as sent, for forms
}

// readDetails checks the answers to f, named by element id or target. Everything that is wrong is named by its key in one
// svc_invalid_param.
func readDetails(f DetailsForm, fields form.Fields, values map[string]any) (details, error) {
	a, err := form.Check(form.Ask(f.Elements, fields), values)
	if err != nil {
		return details{}, err
	}
	out := details{client: client{firstName: a.Contact.FirstName, lastName: a.Contact.LastName, email: a.Contact.Email, phone: a.Contact.Phone},
		answers: a}
	out.raw, err = json.Marshal(values)
	return out, err
}

// newFieldTable makes the copy of the custom fields, which say what the details step asks.
func newFieldTable(b *bus.Bus) *bus.Table[form.Field] {
	return bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (form.Field, int64, error) {
		var f struct {
			Entity, Key, Label, Type string
			Options                  []string
			Archived                 bool
		}
		env, err := bus.OpenEnvelope(value, &f)
		return form.Field(f), env.GetVersion(), err
	})
}

// customFields gives all fields, archived ones too, by the targets that name them.
func (s *service) customFields() form.Fields {
	return form.FieldsOf(slices.Collect(maps.Values(s.fields.All()))...)
}
