package booking

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestEveryOperationIsAnsweredToThoseWhoMayCallIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckAccess()
}

func TestBytesThatNoTextHoldsAreNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckBytes()
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	t.Parallel()
	apptest.Start(t, Service).CheckNulls(t)
}
