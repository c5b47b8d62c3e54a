package settings

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/people"
)

var mailToken = regexp.MustCompile(`#token=([A-Za-z0-9_-]+)`)

// mails are the newest mails to an address, the last first, as the service put them into its queue.
func mails(t *testing.T, s *apptest.Service, to string) []*proto.Mail {
	t.Helper()
	s.Eventually(func() bool {
		var waiting int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from password_request`).Scan(&waiting))
		return waiting == 0
	})
	s.Settle()
	rows, err := s.Kit.DB.Pool.Query(context.Background(), `select message from mail where recipient = $1 and message is not null order by created_at desc, id desc`, to)
	require.NoError(t, err)
	defer rows.Close()
	var all []*proto.Mail
	for rows.Next() {
		var raw []byte
		require.NoError(t, rows.Scan(&raw))
		m := &proto.Mail{}
		require.NoError(t, protobuf.Unmarshal(raw, m))
		all = append(all, m)
	}
	return all
}

func token(t *testing.T, m *proto.Mail) string {
	t.Helper()
	found := mailToken.FindStringSubmatch(m.GetText())
	require.NotNil(t, found, m.GetText())
	return found[1]
}

// join invites somebody and answers with their session.
func join(t *testing.T, s *apptest.Service, by *apptest.Client, email, role string) *apptest.Client {
	t.Helper()
	by.Post("/staff", map[string]any{"email": email, "role": role, "name": strings.Split(email, "@")[0]}).Is(201)
	s.Visitor().Post("/auth/invitation", map[string]any{"token": token(t, mails(t, s, email)[0]), "password": "a long password"}).Is(200)
	return signIn(t, s, email, "a long password")
}

func userID(c *apptest.Client) int64 { return int64(c.Get("/me").Is(200).Field("user_id").(float64)) }

func TestAnInvitationIsGoodOnceAndForAWeek(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("an invited person chooses a password once", func(t *testing.T) {
		made := c.Post("/staff", map[string]any{"name": "An Peeters", "email": "An@example.com", "role": "staff"}).Is(201)
		require.Equal(t, true, made.Field("created"))
		listed := c.Get("/staff/invitations").Is(200)
		require.Equal(t, []any{"An Peeters", made.Field("user_id")}, []any{listed.Text("items.0.name"), listed.Field("items.0.user_id")})
		require.Equal(t, "staff", listed.Text("items.0.role"))
		c.Put("/staff/"+fmt.Sprint(made.Field("user_id"))+"/role", map[string]any{"role": "svc_admin"}).Is(200)
		require.Equal(t, "svc_admin", c.Get("/staff/invitations").Is(200).Text("items.0.role"), "what the link gives now")
		c.Put("/staff/"+fmt.Sprint(made.Field("user_id"))+"/role", map[string]any{"role": "staff"}).Is(200)

		s.Visitor().Post("/auth/login", map[string]any{"login": "an@example.com", "password": ""}).Fails(401, "svc_unauthorized")
		first := token(t, mails(t, s, "An@example.com")[0])
		again := c.Post("/staff", map[string]any{"email": "an@example.com", "role": "staff"}).Is(200)
		require.Equal(t, made.Field("user_id"), again.Field("user_id"))
		accept := func(token string) *apptest.Answer {
			return s.Visitor().Post("/auth/invitation", map[string]any{"token": token, "password": "a long password"})
		}
		accept(first).Fails(410, "svc_token_expired")
		accept("never-given-out").Fails(400, "svc_invalid_token")
		second := token(t, mails(t, s, "An@example.com")[0])
		s.Visitor().Post("/auth/invitation", map[string]any{"token": second, "password": "short"}).Fails(400, "svc_invalid_param")
		accept(second).Is(200)
		accept(second).Fails(410, "svc_token_expired")
		require.Empty(t, c.Get("/staff/invitations").Is(200).Items())
		an := signIn(t, s, "AN@example.com", "a long password")
		require.Equal(t, "staff", an.Get("/me").Is(200).Text("role"))
		require.Equal(t, "own", an.Get("/me").Text("visibility"))
	})
	t.Run("booking decides about an invitation of somebody whom it knows", func(t *testing.T) {
		user := int64(c.Post("/staff", map[string]any{"email": "known@example.com"}).Is(201).Field("user_id").(float64))
		_, err := s.Kit.DB.Pool.Exec(context.Background(), `update person set roles = roles || '{author}' where id = $1`, user)
		require.NoError(t, err)
		s.Send(apptest.Event{Topic: proto.ServiceTopic, Kind: proto.KindServiceCreated, Key: uuid.NewString(), Version: 1, Data: map[string]any{"staff": []int64{user}}})
		s.Settle()
		invitation := ""
		for _, i := range c.Get("/staff/invitations").Is(200).Items() {
			if i["email"] == "known@example.com" {
				invitation = i["id"].(string)
			}
		}
		// booking answers the next command.
		answering := func(answer func(*proto.RemoveStaff)) (done chan struct{}) {
			done = make(chan struct{})
			before := len(s.Events(proto.BookingCommandTopic))
			go func() {
				defer close(done)
				for {
					if all := s.Events(proto.BookingCommandTopic); len(all) > before {
						m := &proto.RemoveStaff{}
						if protobuf.Unmarshal(all[len(all)-1].GetData(), m) == nil {
							answer(m)
						}
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			return done
		}
		done := answering(func(m *proto.RemoveStaff) {
			s.Send(apptest.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindRemovalRefused, Key: m.GetRequestId(), Data: &proto.RemovalRefused{RequestId: m.GetRequestId(),
				Status: 409, Code: "svc_conflict", Message: "It falls on another.", Data: []byte(`{"reason": "overlap", "appointments": [{"id": "a"}]}`)}})
		})
		refused := c.Delete("/staff/invitations/"+invitation+"?successor=7", nil).Fails(409, "svc_conflict")
		<-done
		require.Equal(t, []any{"overlap", "a"}, []any{refused.Field("data.reason"), refused.Field("data.appointments.0.id")})
		done = answering(func(m *proto.RemoveStaff) {
			s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: fmt.Sprint(m.GetUserId()), Version: 2, Data: map[string]any{"user_id": m.GetUserId()},
				Extra: &proto.StaffRemoved{Successor: m.GetSuccessor(), RequestId: m.GetRequestId()}})
		})
		c.Delete("/staff/invitations/"+invitation+"?successor=7", nil).Is(204)
		<-done
		c.Delete("/staff/invitations/"+invitation, nil).Fails(404, "svc_not_found")
		var left int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from person where id = $1`, user).Scan(&left))
		require.Zero(t, left, "the whole account, whatever other roles it was given")
	})
	t.Run("an invitation ends after a week and when it is revoked", func(t *testing.T) {
		c.Post("/staff", map[string]any{"email": "late@example.com"}).Is(201)
		late := token(t, mails(t, s, "late@example.com")[0])
		c.Post("/staff", map[string]any{"email": "gone@example.com"}).Is(201)
		gone := token(t, mails(t, s, "gone@example.com")[0])

		list := c.Get("/staff/invitations").Is(200)
		for _, i := range list.Items() {
			if i["email"] == "gone@example.com" {
				c.Delete("/staff/invitations/"+i["id"].(string), nil).Is(204)
				c.Delete("/staff/invitations/"+i["id"].(string), nil).Fails(404, "svc_not_found")
			}
		}
		c.Delete("/staff/invitations/whatever", nil).Fails(404, "svc_not_found")
		s.Visitor().Post("/auth/invitation", map[string]any{"token": gone, "password": "a long password"}).Fails(410, "svc_token_expired")
		c.Post("/staff", map[string]any{"email": "gone@example.com"}).Is(201)

		s.Travel(7*24*time.Hour + time.Minute)
		s.Visitor().Post("/auth/invitation", map[string]any{"token": late, "password": "a long password"}).Fails(410, "svc_token_expired")
		s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "late@example.com"}).Is(200)
		require.Len(t, mails(t, s, "late@example.com"), 1, "no other link lets somebody in who has no password")

		s.Travel(100 * 24 * time.Hour)
		run(t, s, "retention")
		waiting := []any{}
		for _, i := range admin(t, s).Get("/staff/invitations").Is(200).Items() {
			waiting = append(waiting, i["email"])
		}
		require.Contains(t, waiting, "late@example.com", "it can be revoked as long as its user is there")
	})
}

func TestMailsAboutAnAccountAreInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	c.Patch("/settings/general", map[string]any{"country": "BE"}).Is(200)
	s.Settle() // the copy of the settings has it
	c.Post("/staff", map[string]any{"email": "eve@example.com", "role": "staff", "name": "Eve"}).Is(201)
	invited := mails(t, s, "eve@example.com")[0]
	require.Contains(t, invited.GetSubject(), "U bent uitgenodigd")
	require.Contains(t, invited.GetText(), "Dag Eve,")
	require.Contains(t, invited.GetText(), "omdat iemand daar dit adres heeft gebruikt")
	require.Regexp(t, `De link werkt één keer, tot \p{L}+ \d+ \p{L}+ \d{4}, \d\d:\d\d\.`, invited.GetText())
	require.Contains(t, invited.GetHtml(), `lang="nl`)

	s.Visitor().Post("/auth/invitation", map[string]any{"token": token(t, invited), "password": "a long password"}).Is(200)
	eve := signIn(t, s, "eve@example.com", "a long password")
	eve.Patch("/me/notifications", map[string]any{"language": "fr"}).Is(200)
	s.Eventually(func() bool { u, _ := s.Kit.Identity.User(userID(eve)); return u.GetLanguage() == "fr" })
	eve.With("User-Agent", firefox).Post("/me/application-passwords", map[string]any{"name": "{origin}"}).Is(201)
	told := mails(t, s, "eve@example.com")[0]
	require.Equal(t, "Un nouveau mot de passe d’application", told.GetSubject())
	require.Contains(t, told.GetText(), "« {origin} »", "a name is no place for anything else")
	require.Regexp(t, `Cela s’est passé le \p{L}+ \w+ \p{L}+ \d{4}, \d\d:\d\d avec Firefox on Linux depuis [\d.]+\.`, told.GetText())

	other := join(t, s, c, "kim@example.com", "site_admin")
	require.Contains(t, mails(t, s, "admin@example.com")[0].GetText(), "(kim@example.com) is nu beheerder")
	c.Patch("/settings/general", map[string]any{"country": nil}).Is(200)
	s.Settle()
	other.Post("/me/application-passwords", map[string]any{"name": "kept"}).Is(201)
	require.Equal(t, "A new application password", mails(t, s, "kim@example.com")[0].GetSubject())
}

func TestNobodyGivesMoreThanTheyHoldAndAnAdministratorStays(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("nobody gives what they do not hold", func(t *testing.T) {
		site := admin(t, s)
		manager := join(t, s, site, "manager@example.com", "svc_admin")
		staff := join(t, s, site, "staff@example.com", "staff")
		adminID, managerID, staffID := userID(site), userID(manager), userID(staff)
		role := func(c *apptest.Client, user int64, role string) *apptest.Answer {
			return c.Put(fmt.Sprintf("/staff/%d/role", user), map[string]any{"role": role})
		}

		staff.Post("/staff", map[string]any{"email": "x@example.com"}).Fails(403, "svc_forbidden")
		manager.Post("/staff", map[string]any{"email": "x@example.com", "role": "site_admin"}).Fails(403, "svc_forbidden")
		role(manager, staffID, "site_admin").Fails(403, "svc_forbidden")
		role(manager, adminID, "staff").Fails(403, "svc_forbidden")
		role(manager, managerID, "staff").Fails(409, "svc_conflict")
		role(site, adminID, "staff").Fails(409, "svc_conflict")
		role(site, 99999, "staff").Fails(404, "svc_not_found")
		member := role(manager, staffID, "svc_admin").Is(200)
		require.Equal(t, "svc_admin", member.Text("role"))
		require.Equal(t, "all", member.Text("sees"))
		require.Len(t, member.Field("hours"), 7)
		require.Equal(t, true, member.Field("can_remove"))

		// A role shaped by the site can hold more than a manager does.
		site.Patch("/settings/roles/svc_admin", map[string]any{"capabilities": []string{"svc_view_contacts", "svc_manage_crm"}}).Is(200)
		site.Patch("/settings/roles/staff", map[string]any{"capabilities": []string{"svc_view_contacts", "svc_manage_forms"}}).Is(200)
		s.Eventually(func() bool {
			return manager.Post("/staff", map[string]any{"email": "y@example.com", "role": "staff"}).Status == 403
		})
	})
	t.Run("of two administrators demoting each other one stays", func(t *testing.T) {
		one := admin(t, s)
		two := join(t, s, one, "two@example.com", "site_admin")
		ids := []int64{userID(two), userID(one)}
		var answers [2]*apptest.Answer
		var both sync.WaitGroup
		for i, c := range []*apptest.Client{one, two} {
			both.Go(func() { answers[i] = c.Put(fmt.Sprintf("/staff/%d/role", ids[i]), map[string]any{"role": "staff"}) })
		}
		both.Wait()
		require.ElementsMatch(t, []int{200, 403}, []int{answers[0].Status, answers[1].Status})
		var admins int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from person where 'site_admin' = any(roles)`).Scan(&admins))
		require.Equal(t, 1, admins)
	})
}

func TestRolesAreShapedAndGivenWithinTheirRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a role is shaped within its rules", func(t *testing.T) {
		site := admin(t, s)
		manager := join(t, s, site, "manager@example.com", "svc_admin")
		patch := func(c *apptest.Client, role string, caps ...string) *apptest.Answer {
			return c.Patch("/settings/roles/"+role, map[string]any{"capabilities": append([]string{}, caps...)})
		}
		patch(site, "site_admin", "svc_view_contacts").Fails(409, "svc_conflict")
		patch(site, "captain", "svc_view_contacts").Fails(404, "svc_not_found")
		patch(manager, "svc_admin", "svc_view_contacts", "svc_manage_crm").Fails(409, "svc_conflict")

		roles := patch(site, "editor", "svc_manage_forms", "svc_view_contacts").Is(200)
		require.Len(t, roles.Field("roles"), 4)
		roles = patch(site, "editor").Is(200)
		require.Len(t, roles.Field("roles"), 3)
		require.Contains(t, roles.Field("available.roles"), "editor")
		site.Patch("/settings/roles/staff", map[string]any{"visibility": "all"}).Is(200)
	})
	t.Run("a session names the roles that its person may give", func(t *testing.T) {
		c := admin(t, s)
		manager, staff := join(t, s, c, "lead@example.com", "svc_admin"), join(t, s, c, "staff@example.com", "staff")
		gives := func(c *apptest.Client) any { return c.Get("/auth/session").Is(200).Field("roles_you_can_give") }
		require.Equal(t, []any{"site_admin", "svc_admin", "staff"}, gives(c))
		require.Equal(t, []any{"svc_admin", "staff"}, gives(manager))
		require.Empty(t, gives(staff))

		c.Patch("/settings/roles/svc_admin", map[string]any{"capabilities": []string{"svc_manage_crm", "svc_view_contacts"}}).Is(200)
		require.Equal(t, []any{"svc_admin"}, gives(manager), "staff may edit contacts")
		manager.Post("/staff", map[string]any{"email": "new@example.com", "role": "staff"}).Fails(403, "svc_forbidden")
	})
}

func TestWhatIsTakenAwayEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("a role that is taken away counts at once", func(t *testing.T) {
		manager := join(t, s, c, "manager@example.com", "svc_admin")
		manager.Get("/settings/privacy").Is(200)
		c.Put(fmt.Sprintf("/staff/%d/role", userID(manager)), map[string]any{"role": "staff"}).Is(200)
		s.Eventually(func() bool { return manager.Get("/settings/privacy").Status == 403 })
		require.Equal(t, "svc_manage_crm", manager.Get("/settings/privacy").Fails(403, "svc_forbidden").Text("data.permission"))
	})
	t.Run("what is revoked in the middle of use ends for all", func(t *testing.T) {
		doomed := admin(t, s)
		made := c.Post("/me/application-passwords", map[string]any{"name": "doomed"}).Is(201)
		key := basic(s, "admin", made.Text("password"))
		key.Get("/apps").Is(200)
		var users sync.WaitGroup
		late := make(chan int, 1000)
		for range 4 {
			for _, client := range []*apptest.Client{doomed, key} {
				users.Go(func() {
					for end := s.Now().Add(time.Minute); client.Get("/apps").Status != 401 && s.Now().Before(end); {
						continue
					}
					for range 5 { // whoever was refused once is refused from then on
						if status := client.Get("/apps").Status; status != 401 {
							late <- status
						}
					}
				})
			}
		}
		c.Delete("/me/application-passwords/"+made.Text("id"), nil).Is(204)
		doomed.Post("/auth/logout", nil).Is(204)
		users.Wait()
		require.Empty(t, late)
		key.Get("/apps").Fails(401, "svc_unauthorized")
		doomed.Get("/apps").Fails(401, "svc_unauthorized")
		c.Get("/apps").Is(200)
	})
	t.Run("booking removes a person from the team", func(t *testing.T) {
		plain := join(t, s, c, "plain@example.com", "staff")
		writer := join(t, s, c, "writer@example.com", "staff")
		plainID, writerID, adminID := userID(plain), userID(writer), userID(c)
		before := s.Kit.Identity.Version(adminID)
		_, err := s.Kit.DB.Pool.Exec(context.Background(), `update person set roles = '{staff,author}' where id = $1`, writerID)
		require.NoError(t, err)
		for _, who := range []int64{plainID, writerID, adminID} {
			s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: fmt.Sprint(who), Version: 2, Data: map[string]any{"user_id": who}, Extra: &proto.StaffRemoved{Successor: adminID}})
		}
		s.Settle()
		s.Eventually(func() bool { return plain.Get("/me").Status == 401 && writer.Get("/me").Status == 401 })
		require.Equal(t, "author", signIn(t, s, "writer@example.com", "a long password").Get("/me").Is(200).Text("role"))
		s.Visitor().Post("/auth/login", map[string]any{"login": "plain@example.com", "password": "a long password"}).Fails(401, "svc_unauthorized")
		require.Equal(t, "site_admin", c.Get("/me").Is(200).Text("role"), "the last administrator stays")
		s.Eventually(func() bool { return s.Kit.Identity.OnTeamAfter(before, adminID) }) // and the other services know it
		taken := map[string]any{}
		for _, e := range c.Get("/audit-log?action=take-roles").Is(200).Items() {
			taken[fmt.Sprint(e["record_id"])] = e["changes"].(map[string]any)["roles"].(map[string]any)["new"]
		}
		require.Equal(t, map[string]any{fmt.Sprint(plainID): []any{}, fmt.Sprint(writerID): []any{"author"}}, taken)
	})
	t.Run("assistants reach abilities alone", func(t *testing.T) {
		agent := withKey(t, s, c, "admin", true)
		require.Equal(t, "assistant", agent.Get("/me").Fails(403, "svc_forbidden").Text("data.reason"))
		s.Eventually(func() bool { return len(agent.Get("/abilities").Is(200).Items()) > 20 })
		agent.Get("/abilities/svc/list-apps/run").Is(200)
		agent.Get("/abilities/svc/nothing").Fails(404, "svc_not_found")
		agent.Post("/abilities/svc/update-app/run", map[string]any{"input": map[string]any{"app": "forms", "enabled": false}}).Fails(404, "svc_not_found")
		agent.Post("/abilities/svc/list-apps/run", nil).Fails(405, "svc_method_not_allowed")
		require.NotContains(t, agent.Get("/abilities").Body, "svc/update-role")
		require.Contains(t, c.Get("/integrations/ai").Is(200).Body, "svc/update-role")
		c.Patch("/integrations/ai", map[string]any{"abilities": map[string]bool{"svc/update-role": true}}).Is(200)
		s.Eventually(func() bool { return strings.Contains(agent.Get("/abilities").Is(200).Body, "svc/update-role") })
	})
	t.Run("a role taken off API access gets 401", func(t *testing.T) {
		key := withKey(t, s, c, "admin", false)
		key.Get("/apps").Is(200)
		c.Patch("/settings/api-access", map[string]any{"roles": []string{"captain"}}).Fails(400, "svc_invalid_param")
		require.Equal(t, []any{"staff"}, c.Patch("/settings/api-access", map[string]any{"roles": []string{"staff"}}).Is(200).Field("roles"))
		s.Eventually(func() bool { return key.Get("/apps").Status == 401 })
		require.Equal(t, []any{"staff"}, c.Patch("/settings/api-access", map[string]any{}).Is(200).Field("roles"))
	})
}

func TestASecondFactorOrANewPasswordEndsOlderSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a second factor is asked for once it is on", func(t *testing.T) {
		c := admin(t, s)
		other := admin(t, s)
		secret := c.Post("/auth/two-factor", nil).Is(200)
		require.Contains(t, secret.Text("otpauth_url"), "otpauth://totp/")
		code := func() string {
			code, err := totp.GenerateCode(secret.Text("secret"), s.Now())
			require.NoError(t, err)
			return code
		}
		c.Post("/auth/two-factor/confirm", map[string]any{"code": "000000x"}).Fails(400, "svc_invalid_param")
		used := code()
		recovery := c.Post("/auth/two-factor/confirm", map[string]any{"code": used}).Is(200)
		require.Len(t, recovery.Field("recovery_codes"), 10)
		require.Equal(t, true, c.Get("/me").Is(200).Field("two_factor"))
		s.Eventually(func() bool { return other.Get("/me").Status == 401 })

		login := func(code string) *apptest.Answer {
			return s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword, "code": code})
		}
		login("").Fails(401, "svc_two_factor_required")
		login("123").Fails(401, "svc_unauthorized")
		login(used).Fails(401, "svc_unauthorized")
		s.Travel(30 * time.Second)
		next := code()
		login(next).Is(200)
		login(next).Fails(401, "svc_unauthorized")
		one := recovery.Text("recovery_codes.0")
		login(strings.ToUpper(one)).Is(200)
		login(one).Fails(401, "svc_unauthorized")

		c.Delete("/auth/two-factor", map[string]any{"code": "nonsense"}).Fails(400, "svc_invalid_param")
		c.Delete("/auth/two-factor", map[string]any{"code": recovery.Text("recovery_codes.1")}).Is(204)
		admin(t, s)
	})
	t.Run("a forgotten password is chosen anew without telling who exists", func(t *testing.T) {
		old := admin(t, s)
		known := s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "ADMIN@example.com"}).Is(200)
		unknown := s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "nobody@example.com"}).Is(200)
		require.Equal(t, known.Body, unknown.Body)
		require.Empty(t, mails(t, s, "nobody@example.com"))
		tok := token(t, mails(t, s, "admin@example.com")[0])
		s.Visitor().Post("/auth/password/reset", map[string]any{"token": tok, "password": "another password"}).Is(204)
		s.Visitor().Post("/auth/password/reset", map[string]any{"token": tok, "password": "another password"}).Fails(410, "svc_token_expired")
		s.Eventually(func() bool { return old.Get("/me").Status == 401 })
		s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Fails(401, "svc_unauthorized")
		signIn(t, s, "admin", "another password")
	})
}

var pathValue = regexp.MustCompile(`\{[a-z_]+\}`)

func TestASiteThatRequiresASecondFactorHoldsSessionsBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	other := join(t, s, c, "other@example.com", "svc_admin")
	key := withKey(t, s, c, "admin", false)
	c.Patch("/settings/portal", map[string]any{"require_2fa": true}).Is(200)
	s.Eventually(func() bool { return c.Get("/apps").Status == 403 })
	c.Get("/apps").Fails(403, "svc_two_factor_required")
	c.Get("/me").Is(200)
	require.Equal(t, true, c.Get("/auth/session").Is(200).Field("two_factor_missing"))
	key.Get("/apps").Is(200)
	admitted := []string{"GET /me", "GET /auth/session", "POST /auth/two-factor", "POST /auth/two-factor/confirm", "POST /auth/logout", "POST /auth/confirm", "POST /auth/confirm/organization"}
	for route, o := range s.Parts.Ops.Operations() {
		if o.Perm != op.Public && !slices.Contains(admitted, route) {
			c.Call(pathValue.ReplaceAllString(route, "1"), nil).Fails(403, "svc_two_factor_required")
		}
	}
	c.Get("/abilities/svc/list-apps").Fails(403, "svc_two_factor_required")
	c.Get("/abilities/svc/list-apps/run").Fails(403, "svc_two_factor_required")
	secret := c.Post("/auth/two-factor", nil).Is(200)
	code, err := totp.GenerateCode(secret.Text("secret"), s.Now())
	require.NoError(t, err)
	c.Post("/auth/two-factor/confirm", map[string]any{"code": code}).Is(200)
	s.Eventually(func() bool { return c.Get("/apps").Status == 200 })
	s.Settle()
	require.Equal(t, "refused", c.Get("/audit-log?action=list-apps&channel=ability").Is(200).Text("items.0.outcome"))
	other.Post("/auth/logout", nil).Is(204)
}

func TestASessionEndsWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	c.Patch("/settings/portal", map[string]any{"idle_hours": 1}).Is(200)
	idle := admin(t, s)
	for range 3 {
		s.Travel(40 * time.Minute)
		c.Get("/me").Is(200)
		s.Settle()
	}
	idle.Get("/me").Fails(401, "svc_unauthorized")
	// The use of a session is stored, by way of a command that waits for no outbox.
	s.Eventually(func() bool {
		var seen time.Time
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select max(seen_at) from session`).Scan(&seen))
		return s.Now().Sub(seen) < time.Minute
	})
}

func TestGuessingPasswordsIsSlowedDown(t *testing.T) {
	t.Parallel()
	// Two attempts a minute instead of ten, so that the seconds which a slow machine takes free none.
	s := start(t, func(c *app.Config) { c.RateFactor = 0.2 })
	statuses := map[int]int{}
	for i := range 6 {
		a := s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": fmt.Sprint("guess ", i)})
		statuses[a.Status]++
		if a.Status == 429 {
			require.NotEmpty(t, a.Header.Get("Retry-After"))
		}
	}
	require.Equal(t, 2, statuses[401])
	require.Equal(t, 4, statuses[429])
	// Another address does not help against one account.
	away := s.Visitor().With("X-Forwarded-For", "203.0.113.9")
	away.Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Fails(429, "svc_rate_limited")
	away.Post("/auth/login", map[string]any{"login": "somebody", "password": "else"}).Fails(401, "svc_unauthorized")
}

func TestReplicasThatStartAtOnceMakeOneAdministrator(t *testing.T) {
	t.Parallel()
	s := start(t)
	r, err := newRooms(s.Kit, t.Context().Done())
	require.NoError(t, err)
	_, err = s.Kit.DB.Pool.Exec(context.Background(), `delete from person`)
	require.NoError(t, err)
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		both.Go(func() { errs[i] = r.firstStart(context.Background(), s.Kit, s.Parts.Published) })
	}
	both.Wait()
	require.NoError(t, errors.Join(errs...))
	var n int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from person`).Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, s.Kit.DB.Read(context.Background(), func(tx *db.Tx) error {
		p, err := people.ByName(context.Background(), tx, "admin")
		require.Equal(t, []string{"site_admin"}, p.Roles)
		return err
	}))
}
