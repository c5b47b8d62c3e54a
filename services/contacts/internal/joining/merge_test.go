package joining

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/services/contacts/internal/contact"
)

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

func drawContact(t *rapid.T, name string) contact.Contact {
	text := func(field string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name+" "+field) }
	return contact.Contact{ID: uuid.New(), FirstName: text("first name", "", "An", "Bo"), Phone: text("phone", "", "+32470", "+31"), Source: text("source", "", "fair"),
		Email: text("email", "", "a@example.com", "A@example.com", "b@example.com"), Status: text("status", contact.Statuses...),
		Marketing: text("marketing", contact.MarketingNone, contact.MarketingPending, contact.MarketingSubscribed, contact.MarketingUnsubscribed),
		Tags:      rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y"}), 0, 2, rapid.ID).Draw(t, name+" tags"), Fields: map[string]any{}}
}
