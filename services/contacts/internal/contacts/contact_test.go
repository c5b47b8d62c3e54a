package contacts

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestOperationsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops, "get-undo-steps-of-contacts")
}
