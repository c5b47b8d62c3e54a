package contacts

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestEveryOperationIsAnsweredToThoseWhoMayCallIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckAccess()
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckNulls(t)
}
