package auth

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/trust"
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
	// IPHeader names the proxy header that carries the visitor's address; empty is the direct one. It counts in requests that came
	// through one of Proxies.
	IPHeader func() string
	// Proxies are the proxies before the gateway that are ours.
	Proxies []netip.Prefix
	// Trust signs and verifies for whom settings calls, see Vouch.
	Trust *trust.Keys
	// Seen is called for a session in use, KeySeen for an application password, each at most every five minutes for each.
	Seen    func(s *proto.Session)
	KeySeen func(k *proto.ApplicationPassword, address string)
	// Now is the clock.
	Now func() time.Time

	waiting  chan struct{}
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
	seen     map[string]time.Time
}

// New makes an Auth on a copy of the identities.
func New(i *Identity) *Auth {
	return &Auth{Identity: i, Now: time.Now, waiting: make(chan struct{}, settlers), limiters: map[string]*rate.Limiter{},
		seen: map[string]time.Time{}, IPHeader: func() string { return "" }}
}

// Authenticate returns the actor of r: by an application password over Basic, by an assistant's token over Bearer, or by a browser
// session, else the zero actor.
// Credentials that are not valid are 401, never the zero actor; too many calls of an application password are 429.
func (a *Auth) Authenticate(ctx context.Context, r *http.Request) (db.Actor, error) {
	login, password, basic := r.BasicAuth()
	if basic {
		return a.password(ctx, login, password, a.Address(r))
	}
	if kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		return a.token(ctx, strings.TrimSpace(token), a.Address(r))
	}
	if r.Header.Get("Authorization") != "" {
		return db.Actor{}, fault.Unauthorized("Use Basic authentication with an application password.")
	}
	if c, err := r.Cookie(Cookie); err == nil && c.Value != "" {
		return a.session(ctx, c.Value)
	}
	return db.Actor{}, nil
}

func (a *Auth) password(ctx context.Context, login, password, address string) (db.Actor, error) {
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
	const wrong = "The login or the application password is not right."
	if err := a.settle(ctx, known, wrong); err != nil {
		return db.Actor{}, err
	}
	if key.GetUserId() != user.GetId() || key.GetBearer() || a.over(key) {
		return db.Actor{}, fault.Unauthorized(wrong)
	}
	return a.holder(key, user, address)
}

// token is password for a token, which stands without a login.
func (a *Auth) token(ctx context.Context, text, address string) (db.Actor, error) {
	var key *proto.ApplicationPassword
	known := func() bool {
		key = a.Identity.key(sha256.Sum256([]byte(text)))
		return key != nil
	}
	const wrong = "The token is not valid, or its time is over."
	if err := a.settle(ctx, known, wrong); err != nil {
		return db.Actor{}, err
	}
	user, ok := a.Identity.User(key.GetUserId())
	if !ok || !key.GetBearer() || a.over(key) {
		return db.Actor{}, fault.Unauthorized(wrong)
	}
	return a.holder(key, user, address)
}

// holder is the actor who holds a key of the user: 401 if the user's role does not reach the API, 429 after too many calls.
func (a *Auth) holder(key *proto.ApplicationPassword, user *proto.User, address string) (db.Actor, error) {
	r := a.Identity.rightsOf(user.GetId())
	if !r.api {
		return db.Actor{}, fault.Unauthorized("This role does not reach the API with an application password.")
	}
	if wait := a.limit(key.GetId()); wait > 0 {
		return db.Actor{}, fault.RateLimited(wait)
	}
	if a.KeySeen != nil && a.first("key/"+key.GetId(), time.Time{}) {
		a.KeySeen(key, address)
	}
	return byKey(key, user, r), nil
}

func byKey(key *proto.ApplicationPassword, user *proto.User, r rights) db.Actor {
	actor := db.Actor{UserID: user.GetId(), Label: key.GetName(), Channel: db.ChannelAPI, Capabilities: r.limitedTo(key),
		Own: r.own, Roles: user.GetRoles(), Assistant: key.GetAssistant(), Connection: key.GetBearer(), Denied: key.GetDenied(), ReadOnly: key.GetReadOnly(), Approval: key.GetApproval(), Credential: KeyKey(key.GetId())}
	if len(key.GetHash()) == sha256.Size {
		actor.KeyHash = [sha256.Size]byte(key.GetHash())
	}
	if key.GetLimited() {
		actor.Limit = append([]string{}, key.GetPermissions()...)
	}
	if actor.Assistant {
		actor.Channel = db.ChannelAbility
	}
	return actor
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
	if err := a.settle(ctx, known, "The session has ended. Sign in again."); err != nil {
		return db.Actor{}, err
	}
	actor, err := a.inSession(s)
	if err == nil && a.Seen != nil && a.first(string(s.GetHash()), s.GetSeenAt().AsTime()) {
		a.Seen(s)
	}
	return actor, err
}

// inSession is the actor of a session; svc_unauthorized if it is over.
func (a *Auth) inSession(s *proto.Session) (db.Actor, error) {
	now, access := a.Now(), a.Identity.Access()
	idle := time.Duration(access.GetIdleHours()) * time.Hour
	user, ok := a.Identity.User(s.GetUserId())
	if !ok || now.After(s.GetExpiresAt().AsTime()) || idle > 0 && now.After(a.lastSeen(s).Add(idle)) {
		return db.Actor{}, fault.Unauthorized("The session has ended. Sign in again.")
	}
	r := a.Identity.rightsOf(user.GetId())
	return db.Actor{UserID: user.GetId(), Label: user.GetName(), Channel: s.GetChannel(), Capabilities: r.capabilities,
		Own: r.own, Roles: user.GetRoles(), Session: true, Credential: SessionKey(s.GetHash()),
		TwoFactorMissing: access.GetRequireTwoFactor() && len(r.capabilities) > 0 && !s.GetTwoFactor()}, nil
}

// over reports whether an application password has ended by itself.
func (a *Auth) over(key *proto.ApplicationPassword) bool {
	return key.GetExpiresAt() != nil && !a.Now().Before(key.GetExpiresAt().AsTime())
}

// Again returns the actor of who's credential as it is now, and svc_unauthorized once the credential has ended. The call counts neither
// as a use of the credential nor for its limit.
func (a *Auth) Again(who db.Actor) (db.Actor, error) {
	record, _ := a.Identity.Table.Get(who.Credential)
	if s := record.GetSession(); s != nil {
		now, err := a.inSession(s)
		now.Address = who.Address
		return now, err
	}
	if key := a.Identity.key(who.KeyHash); key != nil {
		user, ok := a.Identity.User(key.GetUserId())
		rights := a.Identity.rightsOf(key.GetUserId())
		if ok && rights.api && !a.over(key) {
			now := byKey(key, user, rights)
			now.Address = who.Address
			return now, nil
		}
	}
	return db.Actor{}, fault.Unauthorized("The credential has ended. Sign in again.")
}

// settlers is how many calls wait for their credential at the same time, so that guesses cost little.
const settlers = 256

// settle waits up to 0.4 s for a credential that was just made and may not have arrived over Kafka yet. The error is
// svc_unauthorized with the message if it does not arrive, and svc_unavailable if too many calls wait already.
func (a *Auth) settle(ctx context.Context, known func() bool, message string) error {
	if known() {
		return nil
	}
	select {
	case a.waiting <- struct{}{}:
		defer func() { <-a.waiting }()
	default:
		return fault.Unavailable()
	}
	ctx, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
	defer cancel()
	if !a.Identity.Table.Wait(ctx, known) {
		return fault.Unauthorized(message)
	}
	return nil
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
	return slices.MaxFunc([]time.Time{s.GetSeenAt().AsTime(), a.seen[string(s.GetHash())]}, time.Time.Compare)
}

// first reports whether the use of a credential is worth a report: the last one, here or as stored, is seenEvery ago.
func (a *Auth) first(credential string, stored time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Now()
	if now.Sub(stored) < seenEvery || now.Sub(a.seen[credential]) < seenEvery {
		return false
	}
	if len(a.seen) >= remembered {
		clear(a.seen)
	}
	a.seen[credential] = now
	return true
}

// PasswordHash is the hash under which an application password is kept; spaces do not count.
func PasswordHash(password string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.ReplaceAll(password, " ", "")))
}

// Address is the visitor's address: the one that settings vouches for, else the peer as the gateway saw it, or what the chosen header of
// a proxy of ours says. Without a gateway in front it is the peer itself.
func (a *Auth) Address(r *http.Request) string {
	if address, ok := a.vouchedFor(r.Header); ok {
		return address
	}
	hops := hopsOf(r.Header)
	if len(hops) == 0 {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		return host
	}
	at := len(hops) - 1
	name := a.IPHeader()
	if name == "" || !a.ours(hops[at]) {
		return hops[at].String()
	}
	if strings.EqualFold(name, "X-Forwarded-For") {
		for at > 0 && a.ours(hops[at]) {
			at--
		}
	} else if ip, err := netip.ParseAddr(strings.TrimSpace(r.Header.Get(name))); err == nil {
		return ip.Unmap().String()
	}
	return hops[at].String()
}

// Peer is the address from which a request with these headers came to the gateway, and whether it is one of Proxies. It is the zero address
// if no gateway has written one.
func (a *Auth) Peer(h http.Header) (peer netip.Addr, ours bool) {
	hops := hopsOf(h)
	if len(hops) == 0 {
		return netip.Addr{}, false
	}
	peer = hops[len(hops)-1]
	return peer, a.ours(peer)
}

func (a *Auth) ours(ip netip.Addr) bool {
	return slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// hopsOf are the addresses in X-Forwarded-For. The gateway has appended the last one, that of its peer.
func hopsOf(h http.Header) []netip.Addr {
	var hops []netip.Addr
	for _, v := range h.Values("X-Forwarded-For") {
		for hop := range strings.SplitSeq(v, ",") {
			if ip, err := netip.ParseAddr(strings.TrimSpace(hop)); err == nil {
				hops = append(hops, ip.Unmap())
			}
		}
	}
	return hops
}
