package relay

import "context"

// Sender is one process, for tests that let several of them send in turns.
type Sender = sender

func (r *Relay) Sender() *Sender { return r.sender() }

func (s *sender) Round(ctx context.Context) error {
	_, err := s.round(ctx)
	return err
}
