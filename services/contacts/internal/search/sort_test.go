package search_test

import (
	"testing"

	"frontdesk/services/contacts/contactstest"
)

func TestPagesInAnyOrderTogetherAreTheSortedList(t *testing.T) {
	t.Parallel()
	contactstest.PagesInOrder(t, "contact")
}
