package settings

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/answer"
	"frontdesk/libs/app/apptest"
)

// device holds passkeys for the site as a browser shows it.
type device struct {
	t    *testing.T
	site virtualwebauthn.RelyingParty
	virtualwebauthn.Authenticator
}

func newDevice(t *testing.T, origin, host string) *device {
	return &device{t, virtualwebauthn.RelyingParty{ID: host, Name: host, Origin: origin}, virtualwebauthn.NewAuthenticator()}
}

func (d *device) options(challenge *apptest.Answer) string {
	raw, err := json.Marshal(map[string]any{"publicKey": challenge.Field("public_key")})
	require.NoError(d.t, err)
	return string(raw)
}

func answerTo(t *testing.T, challenge *apptest.Answer, credential string, more map[string]any) map[string]any {
	t.Helper()
	var c map[string]any
	require.NoError(t, json.Unmarshal([]byte(credential), &c))
	out := map[string]any{"state": challenge.Text("state"), "credential": c}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// create makes a passkey for a challenge.
func (d *device) create(challenge *apptest.Answer, name string) map[string]any {
	options, err := virtualwebauthn.ParseAttestationOptions(d.options(challenge))
	require.NoError(d.t, err)
	d.Options.UserHandle = []byte(options.UserID)
	c := virtualwebauthn.NewCredentialWithImportedKey(virtualwebauthn.KeyTypeEC2, answer.PasskeyKey(d.t))
	d.AddCredential(c)
	return answerTo(d.t, challenge, virtualwebauthn.CreateAttestationResponse(d.site, d.Authenticator, c, *options), map[string]any{"name": name})
}

// use answers a challenge with the newest passkey.
func (d *device) use(challenge *apptest.Answer, more map[string]any) map[string]any {
	options, err := virtualwebauthn.ParseAssertionOptions(d.options(challenge))
	require.NoError(d.t, err)
	c := &d.Credentials[len(d.Credentials)-1]
	c.Counter++
	return answerTo(d.t, challenge, virtualwebauthn.CreateAssertionResponse(d.site, d.Authenticator, *c, *options), more)
}

const siteOrigin = "http://localhost:8080"

func TestAPasskeySignsItsPersonIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a person signs in with a passkey once for each challenge", func(t *testing.T) {
		c := admin(t, s)
		phone := newDevice(t, siteOrigin, "localhost")
		made := c.Post("/auth/passkeys", phone.create(c.Post("/auth/passkeys/options", nil).Is(200), "Phone")).Is(201)
		require.Equal(t, []string{"new_passkey"}, kindsTo(t, s, "admin@example.com"))

		challenge := s.Visitor().Post("/auth/login/options", nil).Is(200)
		answer := phone.use(challenge, nil)
		signedIn := s.Visitor().Post("/auth/login/passkey", answer).Is(200)
		require.Equal(t, "site_admin", withCookie(s, signedIn).Get("/me").Is(200).Text("role"))
		for _, session := range withCookie(s, signedIn).Get("/auth/sessions").Is(200).Items() {
			require.Equal(t, session["current"], session["two_factor"])
		}
		s.Visitor().Post("/auth/login/passkey", answer).Fails(401, "svc_unauthorized") // the same answer
		s.Visitor().Post("/auth/login/passkey", phone.use(challenge, nil)).Fails(401, "svc_unauthorized")

		late := s.Visitor().Post("/auth/login/options", nil).Is(200)
		s.Travel(5*time.Minute + time.Second)
		s.Visitor().Post("/auth/login/passkey", phone.use(late, nil)).Fails(401, "svc_unauthorized")

		require.Len(t, c.Get("/auth/passkeys").Is(200).Items(), 1)
		require.NotNil(t, c.Get("/auth/passkeys").Items()[0]["last_used_at"])
		c.Delete("/auth/passkeys/"+made.Text("id"), nil).Is(204)
		s.Visitor().Post("/auth/login/passkey", phone.use(s.Visitor().Post("/auth/login/options", nil).Is(200), nil)).Fails(401, "svc_unauthorized")
	})
	t.Run("a passkey of another site or person or state is refused", func(t *testing.T) {
		c := admin(t, s)
		an := join(t, s, c, "an@example.com", "staff")
		phone := newDevice(t, siteOrigin, "localhost")
		c.Post("/auth/passkeys", phone.create(c.Post("/auth/passkeys/options", nil).Is(200), "Phone")).Is(201)
		options := func() *apptest.Answer { return s.Visitor().Post("/auth/login/options", nil).Is(200) }
		login := func(body map[string]any) *apptest.Answer { return s.Visitor().Post("/auth/login/passkey", body) }

		elsewhere := *phone
		elsewhere.site.Origin = "https://phishing.example"
		login(elsewhere.use(options(), nil)).Fails(401, "svc_unauthorized")
		unverified := *phone
		unverified.Options.UserNotVerified = true
		login(unverified.use(options(), nil)).Fails(401, "svc_unauthorized")
		anothers := *phone
		anothers.Options.UserHandle = []byte("somebody else's handle of 32 bytes")
		login(anothers.use(options(), nil)).Fails(401, "svc_unauthorized")
		forged := phone.use(options(), nil)
		forged["state"] = options().Text("state")
		login(forged).Fails(401, "svc_unauthorized")
		forged["state"] = "nonsense"
		login(forged).Fails(401, "svc_unauthorized")
		login(map[string]any{"state": options().Text("state"), "credential": map[string]any{"id": "x"}}).Fails(401, "svc_unauthorized")

		// The challenge of one person makes no passkey of another's.
		an.Post("/auth/passkeys", phone.create(c.Post("/auth/passkeys/options", nil).Is(200), "Stolen")).Fails(400, "svc_invalid_param")
		s.Travel(11 * time.Minute)
		c.Post("/auth/passkeys/options", nil).Fails(403, "svc_password_required")
	})
	t.Run("a passkey is a second factor too", func(t *testing.T) {
		c := admin(t, s)
		an := join(t, s, c, "bo@example.com", "staff")
		phone, anotherPhone := newDevice(t, siteOrigin, "localhost"), newDevice(t, siteOrigin, "localhost")
		c.Post("/auth/passkeys", phone.create(c.Post("/auth/passkeys/options", nil).Is(200), "Phone")).Is(201)
		an.Post("/auth/passkeys", anotherPhone.create(an.Post("/auth/passkeys/options", nil).Is(200), "Phone")).Is(201)
		withSecondFactor(t, s, c)
		login := func(d *device) *apptest.Answer {
			passkey := d.use(s.Visitor().Post("/auth/login/options", nil).Is(200), nil)
			return s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword, "passkey": passkey})
		}
		login(anotherPhone).Fails(401, "svc_unauthorized")
		login(phone).Is(200)
	})
}
