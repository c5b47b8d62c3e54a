package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// What a caller may give, over what they hold, what their credential leaves of it, and what the role holds and sees.
func TestNobodyGivesWhatTheirCredentialDoesNotHold(t *testing.T) {
	all := Role{SiteAdmin, Rights{Permissions, true}}
	manager := Role{"manager", Rights{Permissions, true}}
	clerk := Role{"clerk", Rights{[]string{ManageCRM, ViewContacts}, false}}
	lead := Role{"lead", Rights{[]string{ManageCRM, ViewContacts}, true}}
	salon := Role{"salon", Rights{Permissions, false}}
	empty := Role{"empty", Rights{nil, true}}
	for _, held := range []Role{all, manager, lead, clerk, salon, empty} {
		for _, limit := range [][]string{nil, {}, {ViewContacts}, {ManageCRM, ViewContacts}, Permissions} {
			g := GiverOf(db.Actor{UserID: 1, Roles: []string{held.Name}, Limit: limit}, held)
			whole := limit == nil || len(limit) == len(Permissions)
			require.Equal(t, held.All && len(held.Capabilities) > 0, g.All, "a credential does not change what somebody sees")
			for _, c := range g.Capabilities {
				require.True(t, held.Can(c) && (limit == nil || strings.Contains(fmt.Sprint(limit), c)))
			}
			for _, given := range []Role{all, manager, lead, clerk, salon, empty} {
				name := fmt.Sprintf("%s with %v gives %s", held.Name, limit, given.Name)
				err := g.MayGive(given)
				switch {
				case held.Name == SiteAdmin && whole:
					require.NoError(t, err, name)
				case given.Name == SiteAdmin:
					require.Equal(t, SiteAdmin, fault.From(err).Data["reason"], name)
				case g.Covers(Sum(given)):
					require.NoError(t, err, name)
				default:
					require.Equal(t, "rights", fault.From(err).Data["reason"], name)
				}
				require.Equal(t, err == nil, g.MayChange(given) == nil, name)
			}
		}
	}
}

func TestARoleThatHoldsNothingShowsNothing(t *testing.T) {
	require.False(t, Sum(Role{"empty", Rights{nil, true}}).All)
	require.True(t, Sum(Role{"empty", Rights{nil, true}}, Role{"viewer", Rights{[]string{ViewContacts}, true}}).All)
	require.Equal(t, []string{ManageCRM, ViewContacts}, Sum(Role{"a", Rights{[]string{ViewContacts, ManageCRM}, false}}, Role{"b", Rights{[]string{ViewContacts}, false}}).Capabilities)
}
