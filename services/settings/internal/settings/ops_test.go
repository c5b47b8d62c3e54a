package settings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTheOperationsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	s := start(t)
	apptest.CheckOperations(t, s.Parts.Ops)
	// The description is no example of itself, a stream has no end, and the others are called at addresses that the description does not have.
	apptest.CheckExamples(t, s.Parts.Ops, "get-openapi", "get-undo-steps-of-settings", "get-asyncapi", "get-live", "portal-host-proof", "get-ability", "run-ability-get", "run-ability-post", "run-ability-delete")
}

func TestWhatAsksForThePasswordIsForPeopleAlone(t *testing.T) {
	t.Parallel()
	asks := 0
	for route, o := range start(t).Parts.Ops.Operations() {
		if _, there := o.Fails["svc_password_required"]; there {
			asks++
			require.True(t, o.PersonOnly, route)
		}
	}
	require.Greater(t, asks, 8)
}

func TestEventsLookLikeTheirSamples(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	page := c.Post("/pages", map[string]any{"title": "Opening hours"}).Is(201)
	path := "/pages/" + fmt.Sprint(int64(page.Field("id").(float64)))
	c.Patch(path, map[string]any{"content": "Monday", "status": "publish"}).Is(200)
	c.Delete(path, nil).Is(204)
	c.Post("/pages", map[string]any{"title": "Prices"}).Is(201)
	c.Patch("/settings/general", map[string]any{"currency": "CHF"}).Is(200)
	c.Patch("/apps/forms", map[string]any{"enabled": false}).Is(200)
	for _, topic := range []string{proto.SiteTopic, proto.AppsTopic, proto.PageTopic, proto.AuditTopic} {
		s.Sample(topic)
	}
	for topic, records := range map[string]int{proto.SiteTopic: 21, proto.AppsTopic: 1, proto.PageTopic: 1} {
		require.Equal(t, records, s.PublishesStateAgain(topic), topic)
	}
}

func TestOperationsAnswerThoseWhoMayCallThemAndRefuseNull(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.CheckAccess()
	s.CheckNulls(t)
}

func TestBytesThatNoTextHoldsAreNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	s := start(t)
	// It asks the other services.
	s.CheckBytes(admin(t, s), "export-everything")
}
