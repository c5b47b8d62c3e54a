package organization

import (
	"testing"

	"frontdesk/services/contacts/internal/roomtest"
)

func TestTheListOfFieldsHoldsEveryFieldOfAnOrganization(t *testing.T) {
	roomtest.CheckFields(t, organizationFields, organizationChange{}, "id", "contacts_count", "last_activity", "created_at", "updated_at", "deleted_at")
}
