package forms

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestEveryOperationIsAnsweredToThoseWhoMayCallIt(t *testing.T) {
	apptest.Start(t, Service).CheckAccess()
}

func TestNullIsRefusedWhereTheDescriptionDoesNotAllowIt(t *testing.T) {
	apptest.Start(t, Service).CheckNulls(t)
}
