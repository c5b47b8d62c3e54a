package booking

import (
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
