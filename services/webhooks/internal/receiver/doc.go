// Package receiver keeps test receivers: an address of a person's own that shows for an hour what arrives at it, and whose secret signed it.
//
// It owns test_receiver and test_request. Of endpoint it uses the secrets of all webhooks, of message the test event. A delivery to such an
// address is handed over in this process, see Deliver. An erasure empties all test receivers, because anything may have arrived there.
package receiver
