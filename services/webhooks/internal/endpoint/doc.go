// Package endpoint keeps the webhooks: addresses, the events that they subscribed, secrets, and how many attempts in a row failed.
//
// It owns webhook. Upper rooms ask it where requests go and what signs them, have it count results, and wake the lanes of a webhook by
// its notification. A pause that begins is mailed to the administrators.
package endpoint
