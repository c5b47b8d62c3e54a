package undo

import (
	_ "embed"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// Room takes back what somebody did.
type Room struct {
	*app.Kit
	client *http.Client
}

// New makes the room.
func New(k *app.Kit) *Room {
	return &Room{k, &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
}

// Operations declares the operations on sessions of work.
func (r *Room) Operations(set *op.Set) {
	op.AddUndo(set)
	op.Add(set, op.Op{ID: "list-sessions-of-work", Route: "GET /sessions-of-work", Perm: auth.ManageIntegrations, PersonOnly: true, SeesAll: true, Ability: "-", Record: "session_of_work",
		Doc: "List what people, keys and assistants did in the last thirty days, hour by hour, the newest first, at most 200. Calls that took others back are left out."}, sessions)
	op.AddOutside(set, op.Op{ID: "undo-work", Route: "POST /undo", Perm: auth.ManageIntegrations, PersonOnly: true, SeesAll: true, Ability: "-", Record: "user", Undo: op.Undo{Never: op.NothingStays},
		Doc: "Take back what a user, or one of their application passwords or connections, did from a moment until before another one, the newest first and at most 500 calls at once. " +
			"What was made goes to the trash, what was in the trash comes back, and fields get the values they had. What somebody else has changed since is kept. " +
			"The right of each operation that takes something back is needed too. Repeated, it takes back what is left."}, r.undo)
}
