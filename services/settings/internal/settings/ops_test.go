package settings

import (
	"testing"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTheOperationsAreThoseOfTheInterface(t *testing.T) {
	s := start(t)
	apptest.CheckOperations(t, s.Parts.Ops)
}

func TestEventsLookLikeTheirSamples(t *testing.T) {
	s := start(t)
	c := admin(t, s)
	page := c.Post("/pages", map[string]any{"title": "Opening hours"}).Is(201)
	path := "/pages/" + number(int64(page.Field("id").(float64)))
	c.Patch(path, map[string]any{"content": "Monday", "status": "publish"}).Is(200)
	c.Delete(path, nil).Is(204)
	c.Patch("/settings/general", map[string]any{"currency": "CHF"}).Is(200)
	c.Patch("/apps/forms", map[string]any{"enabled": false}).Is(200)
	for _, topic := range []string{proto.SiteTopic, proto.AppsTopic, proto.PageTopic, proto.AuditTopic} {
		s.Sample(topic)
	}
}

func TestEveryOperationIsAnsweredToThoseWhoMayCallIt(t *testing.T) {
	start(t).CheckAccess()
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	start(t).CheckNulls(t)
}
