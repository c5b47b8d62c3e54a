// Package webhooks sends events of the other services to the addresses that subscribed them.
//
// An event is consumed into one message and one delivery row per subscribed webhook, in the transaction that moves the
// position in its topic: once, and never lost. From then on the row is the truth. Each webhook has a lane in the process. A
// notification at commit wakes the lane; it claims rows by a lease, sends them and settles the results. River keeps the
// timers of retries, and a sweep that finds the deliveries of a process that died.
//
// Order: of one record and one webhook, a delivery is claimed only when no earlier one waits for its first attempt. A
// delivery that waits for its retry does not hold later ones up.
//
// Locks: webhooks first, by id; then leases; then deliveries, by id; messages last. A test receiver is locked alone, before its requests.
package webhooks
