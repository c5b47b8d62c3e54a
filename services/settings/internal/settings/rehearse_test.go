package settings

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

func TestEachChangeIsRehearsedAsItHappens(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	does := c.Rehearsing()
	page := fmt.Sprint("/pages/", does.Post("/pages", `{"title":"About"}`).Is(201).Field("id"))
	does.Patch(page, `{"title":"About us"}`).Is(200)
	does.Delete(page, nil).Is(204)
	logo := c.With("Content-Type", "image/webp").Post("/media", pixel).Is(201).Field("id")
	does.Delete(fmt.Sprint("/media/", logo), nil).Is(204)

	for path, body := range map[string]string{
		"/me/notifications": `{"digest_at":"08:00"}`, "/settings/form-style": `{"size":17}`, "/settings/general": `{"currency":"CHF"}`,
		"/settings/portal": `{"powered_by":true}`, "/settings/telemetry": `{"stats":true}`,
		"/settings/roles/staff": `{"visibility":"all"}`, "/settings/privacy": `{"delete_on_uninstall":true}`, "/setup": `{"done":true}`,
		"/integrations/ai": `{"abilities":{"svc/update-role":true}}`,
	} {
		does.Patch(path, body).Is(200)
	}
	view := "/views/" + does.Post("/views", `{"entity":"contacts","name":"Customers","query":{"status":"customer"}}`).Is(201).Text("id")
	does.Patch(view, `{"shared":true}`).Is(200)
	does.Delete(view, nil).Is(204)
	does.Put("/mail-templates/appointment.booked/nl", `{"subject":"Tot dan, {client}","body":"Dag {client}\n\n{manage}"}`).Is(200)
	does.Delete("/mail-templates/appointment.booked/nl", nil).Is(204)
	does.Post("/support/requests", `{"type":"bug","subject":"It hums","message":"All day.","include_environment":true}`).Is(200)
	does.Post("/feedback/deactivate", `{"reason":"too_hard","text":"sorry"}`).Is(200)

	invited := does.Post("/staff", `{"email":"bo@example.com","name":"Bo","role":"staff"}`).Is(201)
	require.NotContains(t, c.With("Prefer", "dry-run").Post("/staff", `{"email":"cas@example.com","name":"Cas","role":"staff"}`).Is(200).Body, "token=")
	does.Put(fmt.Sprint("/staff/", invited.Field("user_id"), "/role"), `{"role":"svc_admin"}`).Is(200)

	an := join(t, s, c, "an@example.com", "svc_admin")
	path := fmt.Sprint("/staff/", userID(an))
	withKey(t, s, an, "an@example.com", false)
	withSecondFactor(t, s, an)
	connectedAs := func(who *apptest.Client, own string) string {
		connected(t, s, who)
		return c.Get(own + "/access").Is(200).Text("connections.0.id")
	}
	does.Delete(path+"/connections/"+connectedAs(an, path), nil).Is(204)
	access := c.Get(path + "/access").Is(200)
	does.Delete(path+"/application-passwords/"+access.Text("application_passwords.0.id"), nil).Is(204)
	does.Delete(path+"/sessions/"+access.Text("sessions.0.id"), nil).Is(204)
	does.Delete(path+"/two-factor", nil).Is(204)
	connection := "/me/connections/" + connectedAs(c, fmt.Sprint("/staff/", userID(c)))
	does.Patch(connection, `{"approval":"writes"}`).Is(200)
	does.Delete(connection, nil).Is(204)

	made := does.Post("/me/application-passwords", `{"name":"reader"}`).Is(201)
	require.NotEmpty(t, made.Text("password"))
	require.NotContains(t, c.With("Prefer", "dry-run").Post("/me/application-passwords", `{"name":"other"}`).Is(200).Body, `"password"`, "a secret is shown by a call that is made")
	does.Patch("/me/application-passwords/"+made.Text("id"), `{"approval":"writes"}`).Is(200)
	s.Eventually(func() bool {
		key, _ := s.Kit.Identity.Table.Get(auth.KeyKey(made.Text("id")))
		return key.GetKey().GetApproval() == op.ApprovalWrites
	})
	asked := basic(s, "admin", made.Text("password")).Post("/pages", `{"title":"By a key"}`).Fails(202, "svc_approval_needed")
	s.Settle()
	does.Post("/approvals/"+asked.Text("data.approval.id")+"/refuse", `{"reason":"Not today."}`).Is(200)
	does.Delete("/me/application-passwords/"+made.Text("id"), nil).Is(204)
	does.Patch("/settings/api-access", `{"roles":["staff"]}`).Is(200)

	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update person set issuer = 'https://login.example', subject = 'an' where email = 'an@example.com'`)
	require.NoError(t, err)
	does.Delete(path+"/organization-account", nil).Is(204)
	id := uuid.NewString()
	s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: id, Data: &proto.Mail{Id: id, To: "ada@example.com", Subject: "Booked", Text: "At nine.", Html: "<p>At nine.</p>",
		Kind: proto.KindAppointmentBooked}})
	s.Settle()
	_, err = s.Kit.DB.Pool.Exec(t.Context(), `update mail set status = 'sent' where id = $1`, id)
	require.NoError(t, err)
	again := c.With("Prefer", "dry-run").Post("/mails/"+id+"/resend", nil).Is(200)
	require.Equal(t, []any{"Booked", "At nine."}, []any{again.Field("effects.mails.0.subject"), again.Field("effects.mails.0.text")})
	does.Post("/mails/"+id+"/resend", nil).Is(200)
	s.CheckRehearsals()
}

func TestWhatAMailSaysOfWhenItWasIsNoOtherEffect(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Now().In(s.Kit.Config.Zone)
	s.Travel(time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, -30, 0, now.Location()).Sub(now))
	c := admin(t, s)
	key := map[string]any{"name": "integration"}
	seen := c.With("Prefer", "dry-run").Post("/me/application-passwords", key).Is(200)
	require.Contains(t, seen.Text("effects.mails.0.text"), s.Now().In(s.Kit.Config.Zone).Format("15:04"))
	s.Travel(time.Minute)
	c.With("If-Effects", `"`+seen.Text("hash")+`"`).Post("/me/application-passwords", key).Is(201)
}
