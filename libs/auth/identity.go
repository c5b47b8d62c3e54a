// Package auth authenticates callers by the service's own copy of the identity topic, without a call to another service.
package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// Identity is a service's copy of people, keys, sessions, roles and API access.
type Identity struct {
	Table *bus.Table[*proto.Identity]

	mu       sync.RWMutex
	users    map[int64]*proto.User
	logins   map[string]int64 // lower-case login or email
	keys     map[[sha256.Size]byte]*proto.ApplicationPassword
	sessions map[[sha256.Size]byte]*proto.Session
	roles    map[string]*proto.Role
	access   *proto.Access
	rights   map[int64]rights // of each user; emptied by any change
}

// rights are what all roles of a user add up to.
type rights struct {
	capabilities map[string]bool
	own          bool
	api          bool
}

// NewIdentity makes the copy; its Table has to run.
func NewIdentity(b *bus.Bus) *Identity {
	i := &Identity{
		users: map[int64]*proto.User{}, logins: map[string]int64{}, rights: map[int64]rights{}, roles: map[string]*proto.Role{},
		keys:     map[[sha256.Size]byte]*proto.ApplicationPassword{},
		sessions: map[[sha256.Size]byte]*proto.Session{},
		access:   &proto.Access{},
	}
	i.Table = bus.NewTable(b, proto.IdentityTopic, func(_ string, value []byte) (*proto.Identity, int64, error) {
		m := &proto.Identity{}
		if err := protobuf.Unmarshal(value, m); err != nil {
			return nil, 0, err
		}
		version, err := m.GetVersion(), wellFormed(m)
		return m, version, err
	})
	i.Table.Watch(i.apply)
	return i
}

// wellFormed refuses an identity that would end a process or name no one.
func wellFormed(m *proto.Identity) error {
	var hash []byte
	switch r := m.GetRecord().(type) {
	case *proto.Identity_Key:
		hash = r.Key.GetHash()
	case *proto.Identity_Session:
		hash = r.Session.GetHash()
	case *proto.Identity_User, *proto.Identity_Role, *proto.Identity_Access:
		return nil
	default:
		return errors.New("auth: an identity without a record")
	}
	if len(hash) != sha256.Size {
		return fmt.Errorf("auth: a hash of %d bytes instead of %d", len(hash), sha256.Size)
	}
	return nil
}

// UserKey and the others are the keys of the identity topic.
func UserKey(id string) string      { return "user/" + id }
func KeyKey(id string) string       { return "key/" + id }
func TokenKey(id string) string     { return "token/" + id }
func RoleKey(name string) string    { return "role/" + name }
func SessionKey(hash []byte) string { return "session/" + hex.EncodeToString(hash) }

// AccessKey is the key of the one access record.
const AccessKey = "access"

func (i *Identity) apply(_ string, m *proto.Identity, gone bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r := m.GetRecord().(type) {
	case *proto.Identity_User:
		if old := i.users[r.User.GetId()]; old != nil {
			i.drop(old)
		}
		if !gone {
			i.users[r.User.GetId()] = r.User
			i.logins[strings.ToLower(r.User.GetEmail())] = r.User.GetId()
			i.logins[strings.ToLower(r.User.GetLogin())] = r.User.GetId()
		}
		delete(i.rights, r.User.GetId())
	case *proto.Identity_Key:
		put(i.keys, r.Key.GetHash(), r.Key, gone)
	case *proto.Identity_Session:
		put(i.sessions, r.Session.GetHash(), r.Session, gone)
	case *proto.Identity_Role:
		if gone {
			delete(i.roles, r.Role.GetName())
		} else {
			i.roles[r.Role.GetName()] = r.Role
		}
		clear(i.rights)
	case *proto.Identity_Access:
		i.access = r.Access
		clear(i.rights)
	}
}

// put sets or deletes the value of a hash. The table has refused hashes of another length.
func put[T any](m map[[sha256.Size]byte]T, hash []byte, v T, gone bool) {
	if gone {
		delete(m, [sha256.Size]byte(hash))
	} else {
		m[[sha256.Size]byte(hash)] = v
	}
}

func (i *Identity) drop(u *proto.User) {
	delete(i.users, u.GetId())
	for _, name := range []string{strings.ToLower(u.GetEmail()), strings.ToLower(u.GetLogin())} {
		if i.logins[name] == u.GetId() {
			delete(i.logins, name)
		}
	}
}

// User is the user with this id.
func (i *Identity) User(id int64) (*proto.User, bool) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	u, ok := i.users[id]
	return u, ok
}

// key is the application password or token with this hash, nil for none.
func (i *Identity) key(hash [sha256.Size]byte) *proto.ApplicationPassword {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.keys[hash]
}

// Users are all users by id.
func (i *Identity) Users() []*proto.User {
	i.mu.RLock()
	defer i.mu.RUnlock()
	users := slices.Collect(maps.Values(i.users))
	slices.SortFunc(users, func(a, b *proto.User) int { return int(a.GetId() - b.GetId()) })
	return users
}

// Team are the users who hold a permission, by id: those who can own contacts and take appointments.
func (i *Identity) Team() []*proto.User {
	return slices.DeleteFunc(i.Users(), func(u *proto.User) bool { return len(i.Rights(u.GetId())) == 0 })
}

// OnTeam reports whether the user exists and holds a permission.
func (i *Identity) OnTeam(id int64) bool { return len(i.Rights(id)) > 0 }

// OnTeamAfter is OnTeam by a record of the user that is newer than a version: that of their removal, which settings may not have
// followed yet. Every record is newer than version 0.
func (i *Identity) OnTeamAfter(removed, id int64) bool {
	return i.OnTeam(id) && i.Version(id) > removed
}

// Version is the version of the user's record; 0 for nobody.
func (i *Identity) Version(id int64) int64 {
	m, _ := i.Table.Get(UserKey(strconv.FormatInt(id, 10)))
	return m.GetVersion()
}

// Rights are the permissions that a user's roles add up to. The map must not be changed.
func (i *Identity) Rights(id int64) map[string]bool { return i.rightsOf(id).capabilities }

// Own reports whether the user sees only records of their own. It is true for a user who is not known.
func (i *Identity) Own(id int64) bool { return i.rightsOf(id).own }

// Access is the API access as it is set.
func (i *Identity) Access() *proto.Access {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.access
}

// RolesNamed are roles with what they allow; one that is not known allows nothing.
func (i *Identity) RolesNamed(names []string) []Role {
	i.mu.RLock()
	defer i.mu.RUnlock()
	roles := make([]Role, 0, len(names))
	for _, name := range names {
		r := i.role(name)
		roles = append(roles, Role{name, Rights{r.GetCapabilities(), r.GetVisibility() == "all"}})
	}
	return roles
}

// role is a role as it is published; the site administrator's cannot be changed.
func (i *Identity) role(name string) *proto.Role {
	if name == SiteAdmin {
		return &proto.Role{Name: name, Capabilities: Permissions, Visibility: "all"}
	}
	return i.roles[name]
}

// limitedTo are the permissions that remain to a key.
func (r rights) limitedTo(key *proto.ApplicationPassword) map[string]bool {
	if !key.GetLimited() {
		return r.capabilities
	}
	left := maps.Clone(r.capabilities)
	maps.DeleteFunc(left, func(p string, _ bool) bool { return !slices.Contains(key.GetPermissions(), p) })
	return left
}

func (i *Identity) rightsOf(id int64) rights {
	i.mu.RLock()
	r, ok := i.rights[id]
	i.mu.RUnlock()
	if ok {
		return r
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	u, ok := i.users[id]
	if !ok {
		return rights{own: true}
	}
	r = rights{capabilities: map[string]bool{}, own: true}
	for _, name := range u.GetRoles() {
		role := i.role(name)
		for _, c := range role.GetCapabilities() {
			r.capabilities[c] = true
		}
		if len(role.GetCapabilities()) > 0 && role.GetVisibility() == "all" {
			r.own = false
		}
		r.api = r.api || slices.Contains(i.access.GetRoles(), name)
	}
	i.rights[id] = r
	return r
}
