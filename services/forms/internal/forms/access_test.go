package forms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

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
	apptest.CheckExamples(t, s.Parts.Ops, "get-undo-steps-of-forms")
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

func TestATakeoutHasFormsWithTheTrash(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	id := admin.Post("/forms", `{"name":"Contact","status":"publish","template":"contact"}`).Is(201).Field("id")
	admin.Call("DELETE /forms/"+fmt.Sprint(id), nil).Is(204)

	lists := s.Takeout()
	require.Len(t, lists["forms"], 1)
	require.Equal(t, id, lists["forms"][0]["id"])
	require.NotNil(t, lists["forms"][0]["deleted_at"])
	require.Empty(t, lists["submissions"])
}
