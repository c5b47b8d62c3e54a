package db

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
)

// Channels through which a change can come, as the timeline and the audit log name them.
const (
	ChannelApp     = "app"
	ChannelPortal  = "portal"
	ChannelAPI     = "api"
	ChannelAbility = "ability"
	ChannelForm    = "form"
	ChannelBooking = "booking"
	ChannelImport  = "import"
	ChannelEmail   = "email"
	ChannelSystem  = "system"
)

// Actor is who does the work, and through which channel. The zero value is the system itself.
type Actor struct {
	UserID int64 // 0 for visitors and the system
	// Label names the key, agent or person for people who read logs.
	Label   string
	Channel string
	// Capabilities are the permissions held.
	Capabilities map[string]bool
	// Limit are the permissions to which the credential was limited, whatever the roles hold; nil for one without a limit.
	Limit []string
	// Own limits the actor to records of their own.
	Own bool
	// Roles of the user.
	Roles []string
	// Assistant marks a credential that may only run abilities.
	Assistant bool
	// Denied are abilities ("svc/…") that the person took away from this assistant.
	Denied []string
	// ReadOnly keeps this assistant from all abilities that change something.
	ReadOnly bool
	// Approval says which calls of the credential wait for a person: writes, destructive; empty or never for none.
	Approval string
	// Approved is the approval by which the credential acts now; the zero value for a call of its own.
	Approved Approved
	// Connection marks an assistant that a person has connected, whose credential is a connection.
	Connection bool
	// Session marks a person who signed in with a browser.
	Session bool
	// Credential identifies the key or session without revealing it.
	Credential string
	// KeyHash is the hash of the application password or token. A connection of an assistant has several tokens, one credential.
	KeyHash [sha256.Size]byte
	// TwoFactorMissing is true when the site asks for a second factor that this session was not given.
	TwoFactorMissing bool
	// Address that the actor calls from, for rate limits and the audit log.
	Address string
}

// Approved names an approval and the user who gave it.
type Approved struct {
	ID string
	By int64
}

// Can reports whether the actor holds the permission.
func (a Actor) Can(permission string) bool { return a.Capabilities[permission] }

// Lacks reports whether the person who connected this assistant left it without an ability.
func (a Actor) Lacks(ability string, reads bool) bool {
	return a.ReadOnly && !reads || slices.Contains(a.Denied, ability)
}

// OwnUser is the user whose records alone the actor may see, or 0 for everybody's.
func (a Actor) OwnUser() int64 {
	if a.Own {
		return a.UserID
	}
	return 0
}

// KeyID is the id of the application password or connection that the actor calls with; empty for a session, and for nobody.
func (a Actor) KeyID() string {
	id, _ := strings.CutPrefix(a.Credential, "key/")
	if id == a.Credential {
		return ""
	}
	return id
}

// SignedIn reports whether the actor is a user.
func (a Actor) SignedIn() bool { return a.UserID != 0 }

type actorKey struct{}

// WithActor makes a the actor of all transactions under ctx.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom is the actor of ctx, or the system.
func ActorFrom(ctx context.Context) Actor {
	a, ok := ctx.Value(actorKey{}).(Actor)
	if !ok {
		return Actor{Channel: ChannelSystem}
	}
	return a
}
