package auth

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Cookie is the name of the session cookie.
const Cookie = "svc_session"

// Auth authenticates requests.
type Auth struct {
	Identity *Identity
	// PerMinute is how many calls an application password may make; 0 is no limit. Each replica counts
	// its own.
	PerMinute int
	// IPHeader names the proxy header that carries the visitor's address; empty is the direct one.
	IPHeader func() string
	// Seen is called for a session in use, at most every five minutes for each.
	Seen func(s *proto.Session)
	// Now is the clock.
	Now func() time.Time

	waiting  chan struct{}
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
	seen     map[string]time.Time
}

// New makes an Auth on a copy of the identities.
func New(i *Identity) *Auth {
	return &Auth{Identity: i, Now: time.Now, waiting: make(chan struct{}, 64), limiters: map[string]*rate.Limiter{},
		seen: map[string]time.Time{}, IPHeader: func() string { return "" }}
}

// Authenticate returns the actor of r: by an application password over Basic or by a browser session, else the zero actor.
// Credentials that are not valid are 401, never the zero actor; too many calls of an application password are 429.
func (a *Auth) Authenticate(ctx context.Context, r *http.Request) (db.Actor, error) {
	login, password, basic := r.BasicAuth()
	if basic {
		return a.password(ctx, login, password)
	}
	if r.Header.Get("Authorization") != "" {
		return db.Actor{}, fault.Unauthorized("Use Basic authentication with an application password.")
	}
	if c, err := r.Cookie(Cookie); err == nil && c.Value != "" {
		return a.session(ctx, c.Value)
	}
	return db.Actor{}, nil
}

func (a *Auth) password(ctx context.Context, login, password string) (db.Actor, error) {
	i := a.Identity
	hash := PasswordHash(password)
	login = strings.ToLower(login)
	var key *proto.ApplicationPassword
	var user *proto.User
	known := func() bool {
		i.mu.RLock()
		defer i.mu.RUnlock()
		key, user = i.keys[hash], i.users[i.logins[login]]
		return key != nil && user != nil
	}
	if !known() && !a.settle(ctx, known) {
		return db.Actor{}, fault.Unauthorized("The login or the application password is not right.")
	}
	if key.GetUserId() != user.GetId() {
		return db.Actor{}, fault.Unauthorized("The login or the application password is not right.")
	}
	r := i.rightsOf(user.GetId())
	if !r.api {
		return db.Actor{}, fault.Unauthorized("This role does not reach the API with an application password.")
	}
	if wait := a.limit(key.GetId()); wait > 0 {
		return db.Actor{}, fault.RateLimited(wait)
	}
	actor := db.Actor{UserID: user.GetId(), Label: key.GetName(), Channel: db.ChannelAPI, Capabilities: r.capabilities,
		Own: r.own, Roles: user.GetRoles(), Assistant: key.GetAssistant(), Credential: "key/" + key.GetId()}
	if actor.Assistant {
		actor.Channel = db.ChannelAbility
	}
	return actor, nil
}

func (a *Auth) session(ctx context.Context, token string) (db.Actor, error) {
	i := a.Identity
	hash := sha256.Sum256([]byte(token))
	var s *proto.Session
	known := func() bool {
		i.mu.RLock()
		defer i.mu.RUnlock()
		s = i.sessions[hash]
		return s != nil
	}
	if !known() && !a.settle(ctx, known) {
		return db.Actor{}, fault.Unauthorized("The session has ended. Sign in again.")
	}
	now := a.Now()
	access := i.Access()
	idle := time.Duration(access.GetIdleHours()) * time.Hour
	if now.After(s.GetExpiresAt().AsTime()) || idle > 0 && now.After(a.lastSeen(s).Add(idle)) {
		return db.Actor{}, fault.Unauthorized("The session has ended. Sign in again.")
	}
	user, ok := i.User(s.GetUserId())
	if !ok {
		return db.Actor{}, fault.Unauthorized("The session has ended. Sign in again.")
	}
	a.touch(s, now)
	r := i.rightsOf(user.GetId())
	return db.Actor{UserID: user.GetId(), Label: user.GetName(), Channel: s.GetChannel(), Capabilities: r.capabilities,
		Own: r.own, Roles: user.GetRoles(), Session: true, Credential: SessionKey(hash[:]),
		TwoFactorMissing: access.GetRequireTwoFactor() && len(r.capabilities) > 0 && !s.GetTwoFactor()}, nil
}

// settle waits up to 0.4 s for a credential that was just made and may not have arrived over Kafka yet. Few may wait at the
// same time, so that guesses cost little.
func (a *Auth) settle(ctx context.Context, known func() bool) bool {
	select {
	case a.waiting <- struct{}{}:
		defer func() { <-a.waiting }()
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
	defer cancel()
	return a.Identity.Table.Wait(ctx, known)
}

func (a *Auth) limit(key string) time.Duration {
	if a.PerMinute <= 0 {
		return 0
	}
	a.mu.Lock()
	l := a.limiters[key]
	if l == nil {
		// A bucket that is dropped starts full again, which only helps its caller.
		if len(a.limiters) >= remembered {
			clear(a.limiters)
		}
		l = rate.NewLimiter(rate.Limit(float64(a.PerMinute)/60), a.PerMinute)
		a.limiters[key] = l
	}
	a.mu.Unlock()
	if l.Allow() {
		return 0
	}
	return time.Duration(float64(time.Minute) / float64(a.PerMinute))
}

const (
	seenEvery = 5 * time.Minute
	// remembered is how many keys or sessions in use a process keeps in mind.
	remembered = 10_000
)

func (a *Auth) lastSeen(s *proto.Session) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := s.GetSeenAt().AsTime()
	if here := a.seen[string(s.GetHash())]; here.After(at) {
		return here
	}
	return at
}

func (a *Auth) touch(s *proto.Session, now time.Time) {
	if a.Seen == nil || now.Sub(s.GetSeenAt().AsTime()) < seenEvery {
		return
	}
	a.mu.Lock()
	reported := now.Sub(a.seen[string(s.GetHash())]) < seenEvery
	if !reported {
		if len(a.seen) >= remembered {
			clear(a.seen)
		}
		a.seen[string(s.GetHash())] = now
	}
	a.mu.Unlock()
	if !reported {
		a.Seen(s)
	}
}

// PasswordHash is the hash under which an application password is kept; spaces do not count.
func PasswordHash(password string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.ReplaceAll(password, " ", "")))
}

// Address is the visitor's address: the peer as the gateway saw it, or what the chosen proxy header
// says. Without a gateway in front it is the peer itself.
func (a *Auth) Address(r *http.Request) string {
	direct, before := peer(r)
	name := a.IPHeader()
	if name == "" {
		return direct
	}
	if strings.EqualFold(name, "X-Forwarded-For") {
		if before != "" {
			return before
		}
		return direct
	}
	if ip := net.ParseIP(strings.TrimSpace(r.Header.Get(name))); ip != nil {
		return ip.String()
	}
	return direct
}

// peer reads the address that the gateway appended last to X-Forwarded-For, and the one before it.
func peer(r *http.Request) (direct, before string) {
	var hops []string
	for _, v := range r.Header.Values("X-Forwarded-For") {
		for hop := range strings.SplitSeq(v, ",") {
			if ip := net.ParseIP(strings.TrimSpace(hop)); ip != nil {
				hops = append(hops, ip.String())
			}
		}
	}
	if len(hops) > 1 {
		before = hops[len(hops)-2]
	}
	if len(hops) > 0 {
		return hops[len(hops)-1], before
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr, ""
	}
	return host, ""
}
