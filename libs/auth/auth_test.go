package auth

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

func site(t testing.TB) *Auth {
	t.Helper()
	i := NewIdentity(bus.New("127.0.0.1:1", bus.Login{}))
	put := func(key string, m *proto.Identity) { i.Table.Put(key, m) }
	put(RoleKey("staff"), &proto.Identity{Record: &proto.Identity_Role{Role: &proto.Role{Name: "staff", Capabilities: []string{ViewContacts}, Visibility: "own"}}})
	put(RoleKey("editor"), &proto.Identity{Record: &proto.Identity_Role{Role: &proto.Role{Name: "editor"}}})
	put(AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{"staff", SiteAdmin}}}})
	for id, roles := range map[int64][]string{1: {SiteAdmin}, 2: {"staff"}, 3: {"editor"}} {
		u := &proto.User{Id: id, Login: "User" + string(rune('0'+id)), Email: "u" + string(rune('0'+id)) + "@example.com", Roles: roles}
		put(UserKey(u.GetLogin()), &proto.Identity{Record: &proto.Identity_User{User: u}})
		hash := PasswordHash("pass of " + u.GetLogin())
		put(KeyKey(u.GetLogin()), &proto.Identity{Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: u.GetLogin(), UserId: id, Name: "a key", Hash: hash[:]}}})
	}
	return New(i)
}

func basic(login, password string) *http.Request {
	r, _ := http.NewRequest(http.MethodGet, "http://localhost/v1/contacts", nil)
	r.SetBasicAuth(login, password)
	return r
}

func TestAnApplicationPasswordIsItsUsersOnly(t *testing.T) {
	a := site(t)
	actor, err := a.Authenticate(t.Context(), basic("user1", "passof User1"))
	require.NoError(t, err, "spaces and the case of the login do not count")
	require.True(t, actor.Can(ManageIntegrations) && !actor.Own && actor.UserID == 1)
	actor, err = a.Authenticate(t.Context(), basic("u2@example.com", "pass of User2"))
	require.NoError(t, err)
	require.True(t, actor.Own && actor.Can(ViewContacts) && !actor.Can(EditContacts))
	for _, r := range []*http.Request{basic("User1", "pass of User2"), basic("User1", ""), basic("", ""), basic("nobody", "pass of User1"), basic("User3", "pass of User3")} {
		_, err := a.Authenticate(t.Context(), r)
		require.Equal(t, 401, fault.From(err).Status)
	}
}

func TestACredentialIsLookedUpAgainWithoutBeingUsed(t *testing.T) {
	a := site(t)
	used := 0
	a.KeySeen = func(*proto.ApplicationPassword, string) { used++ }
	actor, err := a.Authenticate(t.Context(), basic("User2", "pass of User2"))
	require.NoError(t, err)
	require.Equal(t, 1, used)
	again, err := a.Again(actor)
	require.NoError(t, err)
	require.Equal(t, actor, again)
	require.Equal(t, 1, used)
	a.Identity.Table.Put(AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{SiteAdmin}}}})
	_, err = a.Again(actor)
	require.Equal(t, 401, fault.From(err).Status, "the role does not reach the API any more")

	// One of two tokens of a connection ends.
	a.Identity.Table.Put(AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{"staff"}}}})
	tokens := map[string]*proto.Identity{}
	for _, token := range []string{"one", "two"} {
		hash := sha256.Sum256([]byte(token))
		tokens[token] = &proto.Identity{Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "connection", UserId: 2, Hash: hash[:], Bearer: true, Assistant: true}}}
		a.Identity.Table.Put(TokenKey(token), tokens[token])
		actor, err = a.token(t.Context(), token, "192.0.2.1")
		require.NoError(t, err)
		again, err = a.Again(actor)
		require.NoError(t, err)
		require.Equal(t, actor, again)
	}
	a.Identity.apply(TokenKey("one"), tokens["one"], true)
	_, err = a.Again(actor)
	require.NoError(t, err)
	a.Identity.apply(TokenKey("two"), tokens["two"], true)
	_, err = a.Again(actor)
	require.Equal(t, 401, fault.From(err).Status, "the token has ended")

	hash := sha256.Sum256([]byte("token"))
	seen, now := time.Now(), time.Now()
	a.Now = func() time.Time { return now }
	a.Identity.Table.Put(AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{IdleHours: 1}}})
	a.Identity.Table.Put(SessionKey(hash[:]), &proto.Identity{Record: &proto.Identity_Session{Session: &proto.Session{
		Hash: hash[:], UserId: 1, SeenAt: timestamppb.New(seen), ExpiresAt: timestamppb.New(seen.Add(time.Hour * 24))}}})
	actor = db.Actor{Credential: SessionKey(hash[:])}
	for range 5 {
		now = now.Add(15 * time.Minute)
		_, err = a.Again(actor)
	}
	require.Equal(t, 401, fault.From(err).Status, "looking it up has not kept the session awake")
}

func TestAUserWhoIsNotKnownSeesNothing(t *testing.T) {
	i := site(t).Identity
	require.True(t, i.Own(424242))
	require.False(t, i.OnTeam(424242))
	require.False(t, i.Own(1))
}

func TestARenamedUserLosesTheOldLogin(t *testing.T) {
	a := site(t)
	a.Identity.Table.Put(UserKey("User1"), &proto.Identity{Record: &proto.Identity_User{User: &proto.User{Id: 1, Login: "boss", Roles: []string{SiteAdmin}}}})
	_, err := a.Authenticate(t.Context(), basic("boss", "pass of User1"))
	require.NoError(t, err)
	_, err = a.Authenticate(t.Context(), basic("User1", "pass of User1"))
	require.Error(t, err)
}

func TestAFloodOfGuessesNeverMakesACredentialWrong(t *testing.T) {
	a := site(t)
	var guesses sync.WaitGroup
	for range settlers {
		guesses.Go(func() {
			_, err := a.Authenticate(t.Context(), basic("User1", "a guess"))
			require.Equal(t, "svc_unauthorized", fault.From(err).Code)
		})
	}
	require.Eventually(t, func() bool { return len(a.waiting) == settlers }, time.Second, time.Millisecond)
	_, err := a.Authenticate(t.Context(), basic("User1", "made just now"))
	require.Equal(t, "svc_unavailable", fault.From(err).Code)
	_, err = a.Authenticate(t.Context(), basic("User1", "pass of User1"))
	require.NoError(t, err)
	guesses.Wait()
}

func TestAKeyIsLimited(t *testing.T) {
	a := site(t)
	a.PerMinute = 3
	for range 3 {
		_, err := a.Authenticate(t.Context(), basic("User1", "pass of User1"))
		require.NoError(t, err)
	}
	_, err := a.Authenticate(t.Context(), basic("User1", "pass of User1"))
	require.Equal(t, 429, fault.From(err).Status)
}

func TestTheAddressIsThePeerUnlessAProxyHeaderIsChosen(t *testing.T) {
	a := site(t)
	r := basic("", "")
	r.RemoteAddr = "127.0.0.1:5"
	require.Equal(t, "127.0.0.1", a.Address(r))
	r.Header["X-Forwarded-For"] = []string{"198.51.100.1, 198.51.100.2", "192.0.2.1"}
	r.Header.Set("Cf-Connecting-Ip", "203.0.113.9")
	require.Equal(t, "192.0.2.1", a.Address(r))
	a.IPHeader = func() string { return "CF-Connecting-IP" }
	require.Equal(t, "192.0.2.1", a.Address(r), "anybody can send the header")
	a.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	require.Equal(t, "203.0.113.9", a.Address(r))
	r.Header.Set("Cf-Connecting-Ip", "not an address")
	require.Equal(t, "192.0.2.1", a.Address(r))
	a.IPHeader = func() string { return "x-forwarded-for" }
	require.Equal(t, "198.51.100.2", a.Address(r))
	a.Proxies = append(a.Proxies, netip.MustParsePrefix("198.51.100.2/32"))
	require.Equal(t, "198.51.100.1", a.Address(r), "through two proxies of ours")
	r.Header.Set("X-Forwarded-For", "192.0.2.7")
	require.Equal(t, "192.0.2.7", a.Address(r), "a proxy's own call")
}

func TestOnlySettingsSaysForWhomItCalls(t *testing.T) {
	ring := trust.RingOf([]string{"settings", "booking"}, func(string) []string { return []string{"a master key that is long enough"} })
	of := func(service, master string) *Auth {
		a := site(t)
		a.Trust = trust.New(service, []string{master}, ring)
		return a
	}
	const master = "a master key that is long enough"
	booking, now := of("booking", master), time.Now()
	booking.Now = func() time.Time { return now }
	for name, c := range map[string]struct {
		by      *Auth
		after   time.Duration
		change  func(h http.Header)
		address string
	}{
		"settings":            {of("settings", master), time.Minute, nil, "203.0.113.9"},
		"an old signature":    {of("settings", master), 5 * time.Minute, nil, "192.0.2.1"},
		"a thief":             {of("settings", "another master key of somebody"), 0, nil, "192.0.2.1"},
		"another service":     {of("booking", master), 0, nil, "192.0.2.1"},
		"another credential":  {of("settings", master), 0, func(h http.Header) { h.Set("Authorization", "Bearer other") }, "192.0.2.1"},
		"a session":           {of("settings", master), 0, func(h http.Header) { h.Set("Cookie", "svc_session=stolen") }, "192.0.2.1"},
		"another address":     {of("settings", master), 0, func(h http.Header) { h.Set(vouchHeader, strings.Replace(h.Get(vouchHeader), "203", "204", 1)) }, "192.0.2.1"},
		"no signature at all": {of("settings", master), 0, func(h http.Header) { h.Set(vouchHeader, "203.0.113.9") }, "192.0.2.1"},
	} {
		r := basic("User1", "pass of User1")
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		c.by.Now = func() time.Time { return now.Add(-c.after) }
		require.NoError(t, c.by.Vouch(r.Header, "203.0.113.9"))
		if c.change != nil {
			c.change(r.Header)
		}
		require.Equal(t, c.address, booking.Address(r), name)
	}
}

func TestATimeTokenIsGoodForItsSubjectItsWordsAndItsTime(t *testing.T) {
	token, now := NewTimeToken([]byte("key")), time.Now()
	for _, words := range []string{"", "v1"} {
		text := token.Make("form 1", words, now)
		for _, later := range []time.Duration{4 * time.Second, 11 * time.Hour} {
			seen, err := token.Check("form 1", text, now.Add(later))
			require.NoError(t, err)
			require.Equal(t, words, seen)
		}
		for name, check := range map[string]func() (string, error){
			"too soon":        func() (string, error) { return token.Check("form 1", text, now.Add(2*time.Second)) },
			"too late":        func() (string, error) { return token.Check("form 1", text, now.Add(13*time.Hour)) },
			"another subject": func() (string, error) { return token.Check("form 2", text, now.Add(time.Minute)) },
			"other words": func() (string, error) {
				return token.Check("form 1", "v2"+strings.TrimPrefix(text, words), now.Add(time.Minute))
			},
			"nothing": func() (string, error) { return token.Check("form 1", "", now) },
			"more":    func() (string, error) { return token.Check("form 1", text+"A", now.Add(time.Minute)) },
			"another key": func() (string, error) {
				return NewTimeToken([]byte("other")).Check("form 1", text, now.Add(time.Minute))
			},
		} {
			t.Run(words+" "+name, func(t *testing.T) {
				_, err := check()
				require.Equal(t, "svc_invalid_token", fault.From(err).Code)
			})
		}
	}
}

// BenchmarkAuthenticate is what each request pays to know its caller.
func BenchmarkAuthenticate(b *testing.B) {
	a := site(b)
	r := basic("user1", "pass of User1")
	b.ReportAllocs()
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		if _, err := a.Authenticate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}
