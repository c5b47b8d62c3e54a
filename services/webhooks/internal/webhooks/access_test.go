package webhooks

import (
	"testing"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
)

func TestOperationsAnswerThoseWhoMayCallThemAndRefuseNull(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.CheckAccess()
	s.CheckNulls(t)
}

func TestBytesThatNoTextHoldsAreNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.CheckBytes(s.AsSession(auth.SiteAdmin))
}
