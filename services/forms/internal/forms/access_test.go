package forms

import (
	"fmt"
	"testing"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
)

func TestEveryOperationIsAnsweredToThoseWhoMayCallIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckAccess()
}

func TestBytesThatNoTextHoldsAreNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.CheckBytes(s.AsSession(auth.SiteAdmin))
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckNulls(t)
}

func TestTheServiceDeclaresWhatTheInterfaceLists(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops)
}

func TestNothingIsThereWhileTheAppIsOff(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	form := fmt.Sprint("/forms/", admin.Post("/forms", `{"name":"Contact","status":"publish","template":"contact"}`).Is(201).Field("id"))
	s.SetApp("forms", false)
	admin.Get("/forms").Fails(404, "svc_no_route")
	s.Visitor().Post(form+"/submit", `{}`).Fails(404, "svc_no_route")
	s.SetApp("forms", true)
	admin.Get(form).Is(200)
}
