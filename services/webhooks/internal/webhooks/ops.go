package webhooks

import (
	_ "embed"

	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// ops lists the service's operations. A webhook gets every record, and its deliveries hold them: so who sees only their own records has
// nothing to do with them.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)
	set.Webhooks = describeEvents()
	set.Under("Webhooks", "Receivers of events: their addresses, secrets, and what was delivered.")
	s.Webhooks(set)
	s.DeclareEvents(set)
	s.Deliveries(set)
	s.Receivers(set)
	s.engine.Attempts(set)
	return set
}
