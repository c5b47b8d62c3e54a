package op

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
)

func TestACallWaitsWhereItsCredentialOrItsAbilitySaysSo(t *testing.T) {
	of := func(o Op) *Entry {
		o.ID, o.Doc = "x", "X."
		if o.Perm == "" {
			o.Perm = auth.EditContacts
		}
		s := &Set{Approval: func(ability string) string { return map[string]string{"svc/careful": ApprovalWrites}[ability] }}
		return &Entry{Op: o, set: s}
	}
	change, deletion := of(Op{Route: "PATCH /x"}), of(Op{Route: "DELETE /x", Destructive: true})
	key := func(approval string) db.Actor {
		return db.Actor{UserID: 1, Credential: "key/1", Approval: approval}
	}
	person, approved := key(ApprovalWrites), key(ApprovalWrites)
	person.Session = true
	approved.Approved.ID = "an approval"
	for name, c := range map[string]struct {
		e     *Entry
		r     request
		waits bool
	}{
		"a key without a choice":              {change, request{actor: key("")}, false},
		"a key that never asks":               {deletion, request{actor: key(ApprovalNever)}, false},
		"what writes":                         {change, request{actor: key(ApprovalWrites)}, true},
		"what deletes is written too":         {deletion, request{actor: key(ApprovalWrites)}, true},
		"what only writes":                    {change, request{actor: key(ApprovalDestructive)}, false},
		"what deletes":                        {deletion, request{actor: key(ApprovalDestructive)}, true},
		"what reads":                          {of(Op{Route: "POST /x", Reads: true}), request{actor: key(ApprovalWrites)}, false},
		"a rehearsal":                         {change, request{actor: key(ApprovalWrites), rehearses: true}, false},
		"a person":                            {change, request{actor: person}, false},
		"a visitor":                           {of(Op{Route: "POST /x", Perm: Public}), request{}, false},
		"what was approved":                   {change, request{actor: approved}, false},
		"what another operation is asked":     {of(Op{Route: "POST /x", Fails: Fails{AnyRefusal: "Any."}}), request{actor: key(ApprovalWrites)}, false},
		"an ability that asks":                {of(Op{Route: "PATCH /x", Ability: "careful"}), request{actor: key(""), asAbility: true}, true},
		"the operation of such an ability":    {of(Op{Route: "PATCH /x", Ability: "careful"}), request{actor: key("")}, false},
		"an ability that a person runs":       {of(Op{Route: "PATCH /x", Ability: "careful"}), request{actor: db.Actor{UserID: 1, Session: true}, asAbility: true}, false},
		"an ability that does not ask":        {of(Op{Route: "PATCH /x", Ability: "other"}), request{actor: key(""), asAbility: true}, false},
		"what talks to the network waits too": {of(Op{Route: "POST /x"}), request{actor: key(ApprovalWrites)}, true},
	} {
		require.Equal(t, c.waits, c.e.waits(&c.r), name)
	}
}

func TestAnInputIsShownWithoutItsSecrets(t *testing.T) {
	e := &Entry{In: []*Field{{Name: "url", Secret: true}, {Name: "name"}}}
	shown, err := e.shown(map[string]json.RawMessage{"url": json.RawMessage(`"https://cal.example/ABC"`), "name": json.RawMessage(`"Ann"`),
		"password": json.RawMessage(`"hush"`), "items": json.RawMessage(`[{"secret":"hush","size":12345678901234567890},{"token":null}]`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"url":"…","name":"Ann","password":"…","items":[{"secret":"…","size":12345678901234567890},{"token":null}]}`, string(shown))
	require.Equal(t, http.StatusAccepted, ApprovalNeeded(Approval{}).Status)
}
