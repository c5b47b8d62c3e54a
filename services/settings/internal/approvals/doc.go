// Package approvals keeps calls of application passwords and assistants that wait until a person approves them.
//
// It owns approval. It uses row, keys and assistants. The service of the call has checked and rehearsed it before it asks (op.Entry, AskApproval). Whoever
// approves it has settings make the call through the gateway, as the credential that asked and with the effects that they have seen. The approval's id is the
// call's Idempotency-Key: a call whose answer was lost is made again, and gets the answer of the first.
package approvals
