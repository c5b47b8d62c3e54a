package apptest

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

var pathParameter = regexp.MustCompile(`\{[a-z_]+\}`)

// CheckAccess calls every operation that proto/operations.json lists for the service as each caller that may get another answer than the others: nobody, a
// site administrator, somebody who sees only contacts of their own, and over a session, an application password and one for assistants a role that holds only
// its permission, and one that holds all others. The password is that of a site administrator, limited to what the role holds. It requires the answer that
// the list's permission asks for; what an allowed call then meets (400, 404, 409) is not its affair.
func (s *Service) CheckAccess() {
	s.t.Helper()
	callers := s.callers()
	for _, o := range s.listed() {
		path := somePath(o.Path)
		route := o.Method + " " + path
		var body any
		if o.Method != http.MethodGet {
			body = map[string]any{}
		}
		for _, c := range callers(o) {
			want := o.refusal(c)
			a := c.client.Call(route, body)
			require.Equal(s.t, want, refusalOf(a), "%s as %s: %d %s", route, c.name, a.Status, a.Body)
			if c.assistant {
				s.checkAbility(o, c)
			}
		}
	}
}

// somePath is a path with ids of no record.
func somePath(template string) string {
	return pathParameter.ReplaceAllStringFunc(template, func(name string) string {
		if name == "{id}" || name == "{contact_id}" {
			return "0198c0de-0000-7000-8000-00000000abcd"
		}
		return "999999"
	})
}

// checkAbility runs an operation's ability as an assistant does.
func (s *Service) checkAbility(o listed, c caller) {
	s.t.Helper()
	if o.Ability == "" || o.shared {
		return
	}
	path := "/abilities/" + o.Ability + "/run"
	want := ""
	if o.Permission != "" && !(c.holds[o.Permission] && c.holds[auth.ViewContacts]) {
		want = "permission " + o.Permission
	}
	method := s.Parts.Ops.Operations()[o.Method+" "+o.Path].RunMethod()
	var body any
	if method != http.MethodGet {
		body = map[string]any{"input": map[string]any{}}
	}
	a := c.client.Call(method+" "+path, body)
	if !*o.AssistantDefault {
		require.Equal(s.t, 404, a.Status, "%s as %s: %s", path, c.name, a.Body)
		return
	}
	require.Equal(s.t, want, refusalOf(a), "%s as %s: %d %s", path, c.name, a.Status, a.Body)
}

// operations are those of proto/operations.json.
func operations(t testing.TB) (all []listed) {
	t.Helper()
	raw, err := os.ReadFile(protoFile(t, "operations.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &all))
	return all
}

type listed struct {
	Method, Path, Service string
	App, Permission       string
	Public                bool
	PersonOnly            bool `json:"person_only"`
	Ability               string
	AssistantDefault      *bool `json:"assistant_default"`
	Success               []int

	// forAssistants: application passwords of assistants reach it although it is no ability's path.
	forAssistants bool
	// shared: another operation, listed before, runs under the same ability.
	shared bool
}

// listed are the operations of this service that callers can tell apart by rights.
func (s *Service) listed() []listed {
	var mine []listed
	seen := map[string]bool{}
	declared := s.Parts.Ops.Operations()
	for _, o := range operations(s.t) {
		d, ok := declared[o.Method+" "+o.Path]
		if o.Service != s.Kit.Service || !ok {
			continue
		}
		if o.Permission == "" && !o.Public && d.Perm != op.SignedIn && d.Perm != op.Public {
			// The list leaves it open; the service has decided.
			o.Permission = d.Perm
		}
		o.forAssistants = d.ForAssistants
		if o.Ability != "" {
			o.shared = seen[o.Ability]
			seen[o.Ability] = true
		}
		mine = append(mine, o)
	}
	require.NotEmpty(s.t, mine)
	return mine
}

// refusal is why the caller is refused: "401", "assistant", "person_only", "permission …", or nothing.
func (o listed) refusal(c caller) string {
	switch {
	case o.Public:
		return ""
	case c.client.UserID == 0:
		return "401"
	case c.assistant && !o.forAssistants:
		return "assistant"
	case o.PersonOnly && !c.session:
		return "person_only"
	case o.Permission != "" && !(c.holds[o.Permission] && c.holds[auth.ViewContacts]):
		return "permission " + o.Permission
	}
	return ""
}

func refusalOf(a *Answer) string {
	switch {
	case a.Status == 401:
		return "401"
	case a.Status != 403:
		return ""
	}
	if p := a.Text("data.permission"); p != "" {
		return "permission " + p
	}
	if r := a.Text("data.reason"); r == "assistant" || r == "person_only" {
		return r
	}
	// Refused by the operation itself, once it was allowed to look.
	return ""
}

type caller struct {
	name      string
	client    *Client
	holds     map[string]bool
	session   bool
	assistant bool
}

// callers makes a role for each permission, and gives those who call an operation.
func (s *Service) callers() func(listed) []caller {
	s.t.Helper()
	holds := map[string][]string{"nobody": nil}
	for _, p := range auth.Permissions {
		name := strings.TrimPrefix(p, "svc_")
		holds["only "+name] = []string{auth.ViewContacts, p}
		// Without sight of contacts no other right counts.
		holds["not "+name] = slices.DeleteFunc(slices.Clone(auth.Permissions), func(q string) bool { return q == p })
	}
	names := slices.Sorted(maps.Keys(holds))
	for _, name := range names {
		s.Role(name, "all", holds[name]...)
	}
	s.identity(auth.AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{Roles: append(names, auth.SiteAdmin), IdleHours: 8}}})
	s.Eventually(func() bool { return len(s.Kit.Identity.Access().GetRoles()) == len(names)+1 })

	held := func(permissions []string) map[string]bool {
		all := map[string]bool{}
		for _, p := range permissions {
			all[p] = true
		}
		return all
	}
	known := map[string][]caller{}
	of := func(role string) []caller {
		if known[role] == nil {
			password := s.user(&proto.ApplicationPassword{Limited: true, Permissions: holds[role]}, auth.SiteAdmin)
			known[role] = []caller{{name: role + " with a password", client: password, holds: held(holds[role])},
				{name: role + " in a browser", client: s.AsSession(role), holds: held(holds[role]), session: true},
				{name: role + "'s assistant", client: s.AsAssistant(role), holds: held(holds[role]), assistant: true}}
		}
		return known[role]
	}
	// Who sees only contacts of their own is refused nothing for it.
	s.Role("own", "own", auth.Permissions...)
	always := []caller{{name: "nobody at all", client: s.Visitor()},
		{name: "a site administrator", client: s.AsSession(auth.SiteAdmin), holds: held(auth.Permissions), session: true},
		{name: "somebody who sees their own", client: s.AsSession("own"), holds: held(auth.Permissions), session: true}}
	return func(o listed) []caller {
		if o.Permission == "" {
			return slices.Concat(always, of("nobody"))
		}
		name := strings.TrimPrefix(o.Permission, "svc_")
		return slices.Concat(always, of("only "+name), of("not "+name), of("not view_contacts"))
	}
}
