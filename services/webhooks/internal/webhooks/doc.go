// Package webhooks sends what happened in the other services to the addresses that people subscribed.
//
// An event comes in from its topic and becomes one message and a delivery row per subscribed webhook, in the
// transaction that moves the position in the topic: once, and never lost. The row is the truth from then
// on. Each webhook has a lane in the process, which claims rows by a lease, sends them and settles what
// came back; a notification at commit wakes it, so that nothing waits for a poll. River keeps the timers
// of retries, and the sweep that finds what a dead process left behind.
//
// Order: of one record and one webhook, a delivery is claimed only when no earlier one still waits for its
// first attempt. One that failed and waits for its retry holds nobody up.
//
// Locks: webhook rows first, by id; then delivery rows, by id; messages last.
package webhooks
