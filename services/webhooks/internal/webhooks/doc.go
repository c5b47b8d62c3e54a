// Package webhooks sends events of the other services to the addresses that subscribed them.
//
// An event is consumed into one message and one delivery row per subscribed webhook, in the transaction that moves the
// position in its topic: once, and never lost. From then on the row is the truth.
//
// Order: of one record and one webhook, a delivery is claimed only when no earlier one waits for its first attempt. A
// delivery that waits for its retry does not hold later ones up.
//
// Locks: an erasure waits for the transactions that store events before all else, see message.LockErasure. Then webhooks first, by id; then leases; then deliveries, by id; messages last. A test receiver is locked alone, before its requests.
// Results that all succeeded lock their webhooks last instead, see storeSuccesses in engine.
//
// Reads: webhook, delivery, message.
//
// # Floors
//
// From the ground up. A package uses only those that stand before it.
//
//   - signature: the signatures of requests, secrets, and the schedule of attempts
//   - message: events that can be subscribed, as they are sent, and the list of them
//   - endpoint: webhooks, their secrets and failures in a row
//   - receiver: test receivers and what arrived at them
//   - delivery: which event goes to which webhook, and what became of it
//   - engine: sends what is due
package webhooks
