package contacts

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/record"
)

func TestTheListOfFieldsHoldsEveryFieldOfAContact(t *testing.T) {
	checkFields(t, contact.Fields, contact.ContactInput{}, "id", "marketing_updated_at", "organization", "last_activity", "created_at", "updated_at", "deleted_at")
}

func TestTheListOfFieldsHoldsEveryFieldOfAnOrganization(t *testing.T) {
	checkFields(t, organization.Fields, organization.OrganizationChange{}, "id", "contacts_count", "last_activity", "created_at", "updated_at", "deleted_at")
}

// checkFields requires that fields names each field of R but for those that the service sets, that each name stands for the
// struct's field of that name, and that a request has all but those that the service manages.
func checkFields[R any](t *testing.T, fields record.Fields[R], input any, set ...string) {
	t.Helper()
	names := map[string]bool{}
	for _, name := range set {
		names[name] = true
	}
	inputs := jsonNames(reflect.TypeOf(input))
	for _, f := range fields {
		require.False(t, names[f.Name], "%s is there twice", f.Name)
		names[f.Name] = true
		if !f.Managed() {
			require.Contains(t, inputs, f.Name)
		}
	}
	for name, at := range jsonNames(reflect.TypeFor[R]()) {
		require.True(t, names[name], "%s is not in the list of fields", name)
		delete(names, name)
		var r R
		if fill(reflect.ValueOf(&r).Elem().FieldByIndex(at)); !contains(set, name) {
			var empty R
			require.Equal(t, []string{name}, fields.Diff(empty, r).Names())
		}
	}
	require.Empty(t, names, "names of no field")
}

func contains(list []string, name string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+name+" ")
}

// jsonNames are the fields of a struct by their names in JSON.
func jsonNames(t reflect.Type) map[string][]int {
	names := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names[name] = f.Index
		}
	}
	return names
}

// fill sets v to something that is not empty.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x = "x"
	case **int64:
		n := int64(1)
		*x = &n
	case *[]string:
		*x = []string{"x"}
	case *map[string]any:
		*x = map[string]any{"x": "y"}
	}
}
