package approvals

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps approvals.
type Room struct {
	*app.Kit
	client *http.Client
	// watching are called when something waits or has ended, see Watch.
	watching []func()
}

// New makes the room.
func New(k *app.Kit) *Room {
	return &Room{Kit: k, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindAskApproval, r.onAsk)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"approval": app.People}, Forget: forget},
		Sealed:   []app.Sealed{{Table: "approval", Column: "call", Purpose: purposeOf}, {Table: "approval", Column: "secret", Purpose: purposeOf}},
		Run:      []func(context.Context){r.hear},
		Jobs: []app.Job{
			{Name: "approvals", Every: time.Minute, Run: r.end},
			{Name: "approved calls", Every: time.Minute, Run: r.resume},
		},
		Restored: r.restored,
	}
}

//go:embed examples.json
var examples []byte

// When operations are refused, see op.Fails.
const (
	failDecided = "Somebody has decided on it, or decides on it now, or its time is over."
	failMay     = "The caller sees the approval because it is in their name, and may not decide on it."
	failOwn     = "It is a call of the caller's own key, which somebody else approves, unless nobody else could."
)

// Operations declares the operations on approvals.
func (r *Room) Operations(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-approvals", Route: "GET /approvals", Perm: op.SignedIn, ForAssistants: true, Record: "approval",
		Doc: "List calls that wait until a person approves them, and those of the last 30 days, newest first. A person sees those that they may decide on and those in their own name, a credential its own.",
		Use: "Use it to see what became of calls that were answered with svc_approval_needed. Answers with one page and next_cursor."}, r.list)
	op.Add(set, op.Op{ID: "count-approvals", Route: "GET /me/approvals", Perm: op.SignedIn, PersonOnly: true, Ability: "-",
		Doc: "Get how many calls wait for the decision of the caller, and what is new of approvals since a time."}, r.count)
	op.AddOutside(set, op.Op{ID: "get-approval", Route: "GET /approvals/{id}", Perm: op.SignedIn, ForAssistants: true, Record: "approval",
		Doc: "Get an approval. The credential that asked gets the answer of its call here, the first time with a secret that is shown once.",
		Use: "Use it with the id from svc_approval_needed, to learn whether a person has approved the call and what it has answered."}, r.get)
	op.AddOutside(set, op.Op{ID: "approve-call", Undo: op.Undo{Never: op.Access}, Route: "POST /approvals/{id}/approve", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "approval",
		Doc: "Approve a call: it is made now, as the credential that asked, with its rights of now, if it still does what hash stands for. Needs svc_manage_integrations or the permission of the operation.",
		Fails: op.Fails{"svc_invalid_status": failDecided, "svc_forbidden": failMay, "svc_forbidden own": failOwn,
			"svc_effects_changed": "The call does something else by now. data.effects and data.hash are those of now; it waits on."}}, r.approve)
	op.Add(set, op.Op{ID: "refuse-call", Undo: op.Undo{Never: op.Access}, Route: "POST /approvals/{id}/refuse", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "approval",
		Doc:   "Refuse a call that waits. One's own can always be refused.",
		Fails: op.Fails{"svc_invalid_status": failDecided, "svc_forbidden": failMay}}, r.refuse)
}
