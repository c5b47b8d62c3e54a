package contacts

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/change"
	"frontdesk/services/contacts/internal/record"
)

func TestTheListOfFieldsHoldsEveryFieldOfAContact(t *testing.T) {
	checkFields(t, contactFields, ContactInput{}, "id", "marketing_updated_at", "organization", "last_activity", "created_at", "updated_at", "deleted_at")
}

func TestTheListOfFieldsHoldsEveryFieldOfAnOrganization(t *testing.T) {
	checkFields(t, organizationFields, OrganizationChange{}, "id", "contacts_count", "last_activity", "created_at", "updated_at", "deleted_at")
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

func TestAMergeKeepsEveryValueOfBothSomewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		winner, loser := drawContact(t, "winner"), drawContact(t, "loser")
		c := mergedContact(winner, loser)
		lost := lostContact(c, loser)
		require.Empty(t, lostContact(c, winner), "the winner loses nothing")
		require.Equal(t, winner.ID, c.ID)
		for _, f := range []struct{ name, merged, other string }{
			{"first_name", c.FirstName, loser.FirstName}, {"phone", c.Phone, loser.Phone}, {"source", c.Source, loser.Source}, {"status", c.Status, loser.Status},
		} {
			require.True(t, f.other == "" || f.other == f.merged || lost[f.name] == f.other, f.name)
		}
		if c.Marketing != winner.Marketing {
			require.Equal(t, strings.ToLower(loser.Email), strings.ToLower(c.Email), "a subscription comes with its address")
		}
	})
}

func drawContact(t *rapid.T, name string) Contact {
	text := func(field string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name+" "+field) }
	return Contact{ID: uuid.New(), FirstName: text("first name", "", "An", "Bo"), Phone: text("phone", "", "+32470", "+31"), Source: text("source", "", "fair"),
		Email: text("email", "", "a@example.com", "A@example.com", "b@example.com"), Status: text("status", contactStatuses...),
		Marketing: text("marketing", marketingNone, marketingPending, marketingSubscribed, marketingUnsubscribed),
		Tags:      rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y"}), 0, 2, rapid.ID).Draw(t, name+" tags"), Fields: map[string]any{}}
}

func TestANewContactIsALeadAndHasAllThatItWasGiven(t *testing.T) {
	now := time.Now()
	c := newContact(Contact{FirstName: "An", Fields: map[string]any{"a": "b", "c": nil}}, now)
	require.Equal(t, statusLead, c.Status)
	require.Equal(t, map[string]any{"a": "b"}, c.Fields)
	require.Equal(t, change.Set{"first_name": {New: "An"}, "fields.a": {New: "b"}}, creation(c))
	require.Equal(t, statusInactive, newContact(Contact{Status: statusInactive}, now).Status)
}
