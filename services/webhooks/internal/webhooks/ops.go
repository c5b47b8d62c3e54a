package webhooks

import (
	"frontdesk/libs/app"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/message"
)

// operations lists the service's operations. A webhook gets every record, and its deliveries hold them: so who sees only their own
// records has nothing to do with them.
func (r rooms) operations(k *app.Kit) *op.Set {
	set := k.NewSet()
	set.Webhooks = message.Describe()
	set.Under("Webhooks", "Receivers of events: their addresses, secrets, and what was delivered.")
	r.endpoints.Webhooks(set)
	r.messages.Events(set)
	r.deliveries.Deliveries(set)
	r.receivers.Receivers(set)
	r.engine.Attempts(set)
	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	takeout(set)
	op.AddUndo(set)
	return set
}
