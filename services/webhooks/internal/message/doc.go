// Package message keeps the events of the other services that can be subscribed: the very text that is sent of each, for as long as the
// log is kept. It lists them for those who ask, and takes people who were erased out of them.
//
// It owns message, erased (contacts of which late events hold nothing but ids) and feed, follows the topics of contacts, organizations, tasks,
// appointments and submissions, and describes the requests to receivers for the OpenAPI document. Upper rooms ask it for the body of a
// test event, for what all requests have in common, and for the lock of an erasure.
package message
