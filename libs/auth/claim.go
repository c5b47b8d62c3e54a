package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TeamRoles are the roles of the team, the strongest first.
var TeamRoles = []string{SiteAdmin, "svc_admin", "staff"}

// ClaimRole says which role a value of a provider's claim gives, such as a group there.
type ClaimRole struct{ Value, Role string }

// ParseClaimRoles reads value=role, separated by commas: desk-admins=site_admin,reception=staff. A value may have = in it, but no comma. The error
// is for a person and names the entry.
func ParseClaimRoles(list string) (all []ClaimRole, err error) {
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		i := strings.LastIndexByte(entry, '=')
		if i < 1 {
			return nil, fmt.Errorf("%q is not value=role", entry)
		}
		c := ClaimRole{strings.TrimSpace(entry[:i]), strings.TrimSpace(entry[i+1:])}
		if !slices.Contains(TeamRoles, c.Role) {
			return nil, fmt.Errorf("%q names the role %q, and there are %s", entry, c.Role, strings.Join(TeamRoles, ", "))
		}
		all = append(all, c)
	}
	if len(all) == 0 && list != "" {
		return nil, errors.New("it names no role")
	}
	return all, nil
}
