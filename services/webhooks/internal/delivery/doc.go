// Package delivery keeps the deliveries: one row for each event and webhook that subscribed it, the truth about what is still to be sent, and
// the log of the attempts.
//
// It owns delivery, lease (deliveries that are being sent, by whom and until when that counts), attempt, tally (sizes of the logs) and removed
// (webhooks that were deleted while their log is cleared). It is told of each event that was stored, of those whose body was changed, and of
// webhooks that are deleted. The engine above claims deliveries and settles their results.
//
// Reads: message, webhook.
package delivery
