package settings

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTheAuditLogIsReadByWhoAndWhatAndPageByPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("the audit log names who did what through which channel", func(t *testing.T) {
		key := withKey(t, s, c, "admin", false)
		key.Patch("/settings/general", map[string]any{"currency": "CHF"}).Is(200)
		staff := join(t, s, c, "staff@example.com", "staff")
		staff.Patch("/settings/general", map[string]any{"currency": "USD"}).Fails(403, "svc_forbidden")
		s.Settle()

		entries := c.Get("/audit-log?action=update-general-settings").Is(200).Items()
		require.Len(t, entries, 2)
		require.Equal(t, "refused", entries[0]["outcome"])
		require.Equal(t, "staff", entries[0]["actor_label"])
		require.Equal(t, "app", entries[0]["channel"])
		require.Equal(t, "done", entries[1]["outcome"])
		require.Equal(t, "a key", entries[1]["actor_label"])
		require.Equal(t, "api", entries[1]["channel"])
		require.Equal(t, "general", entries[1]["record_id"])
		require.Nil(t, entries[0]["changes"])
		require.Equal(t, map[string]any{"currency": map[string]any{"old": "EUR", "new": "CHF"}}, entries[1]["changes"])
		require.NotEmpty(t, c.Get("/audit-log?action=sign-in").Is(200).Items())
		require.NotEmpty(t, c.Get("/audit-log?action=svc/invite-staff&channel=app").Is(200).Items())
		require.Empty(t, c.Get("/audit-log?channel=import").Is(200).Items())
		c.Get("/audit-log?channel=fax").Fails(400, "svc_invalid_param")

		// An entry of another service, by its sample.
		s.SendSample("svc.audit/audit", func(e *apptest.Event) {
			e.Actor = &proto.Actor{Label: "=SUM(1)", Channel: "form"}
			e.Data.(*proto.Audit).Action = "submit-form"
		})
		s.Settle()
		require.Equal(t, "=SUM(1)", c.Get("/audit-log?channel=form").Is(200).Text("items.0.actor_label"))
		file := c.Get("/exports/audit-log.csv?channel=form").Is(200)
		rows, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, "'=SUM(1)", rows[1][5])
		require.Equal(t, []string{"address", "changes", "record_ids", "approval_id", "approved_by"}, rows[0][9:])
		s.Settle()
		require.Len(t, c.Get("/audit-log?action=export-audit-log").Is(200).Items(), 1, "the export is itself recorded")
	})
	t.Run("the audit log names who changed their own account", func(t *testing.T) {
		an := join(t, s, c, "an@example.com", "staff")
		anID := userID(an)
		s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "an@example.com"}).Is(200)
		s.Visitor().Post("/auth/password/reset", map[string]any{"token": token(t, mails(t, s, "an@example.com")[0]), "password": "another password"}).Is(204)
		an = signIn(t, s, "an@example.com", "another password")
		an.Post("/auth/two-factor", nil).Is(200)
		an.Post("/auth/logout", nil).Is(204)
		s.Settle()
		for _, action := range []string{"accept-invitation", "forgot-password", "reset-password", "sign-in", "start-two-factor", "sign-out"} {
			t.Run(action, func(t *testing.T) {
				e := c.Get("/audit-log?action=" + action).Is(200).Items()[0]
				require.Equal(t, "an", e["actor_label"])
				require.EqualValues(t, anID, e["user_id"])
				require.Equal(t, "user", e["record_type"])
				require.Equal(t, fmt.Sprint(anID), e["record_id"])
			})
		}
	})
	t.Run("a refusal by a rule is in the audit log", func(t *testing.T) {
		manager := join(t, s, c, "manager@example.com", "svc_admin")
		manager.Post("/staff", map[string]any{"email": "x@example.com", "role": "site_admin"}).Fails(403, "svc_forbidden")
		manager.Put("/staff/"+fmt.Sprint(userID(c))+"/role", map[string]any{"role": "staff"}).Fails(403, "svc_forbidden")
		manager.With("Idempotency-Key", "once").Post("/staff", map[string]any{"email": "y@example.com", "role": "site_admin"}).Fails(403, "svc_forbidden")
		s.Settle()
		for action, refused := range map[string]int{"invite-staff": 2, "set-staff-role": 1} {
			t.Run(action, func(t *testing.T) {
				var entries []map[string]any
				for _, e := range c.Get("/audit-log?action=" + action).Is(200).Items() {
					if e["outcome"] == "refused" {
						entries = append(entries, e)
					}
				}
				require.Len(t, entries, refused)
				require.Equal(t, "manager", entries[0]["actor_label"])
			})
		}
	})
}
