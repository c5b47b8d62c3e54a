package apptest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// TakeBack takes back what another client did, the newest first, as POST /undo does through the gateway; c is a session. It gives for each call that was
// not taken back the operation and why, in that order: "changed by …" for what somebody else has changed since.
func (c *Client) TakeBack(of *Client) (left []string) {
	c.t.Helper()
	entries, err := db.Column[uuid.UUID](context.Background(), c.s.Kit.DB.Pool,
		`select entry from deed where user_id = $1 and (credential = '') = $2 and undoes is null and operation <> '' order by entry desc`, of.UserID, of.cookie != "")
	require.NoError(c.t, err)
	if len(entries) == 0 {
		return nil
	}
	var steps struct{ Items []op.TakenBack }
	c.Post("/undo/"+c.s.Parts.Ops.Service, map[string]any{"entries": entries}).Is(200).Into(&steps)
	known := map[uuid.UUID]op.TakenBack{}
	for _, t := range steps.Items {
		known[t.Entry] = t
	}
	for _, entry := range entries {
		t := known[entry]
		if t.Reason != "" {
			left = append(left, t.Operation+": "+t.Reason)
		}
		for _, s := range t.Steps {
			var body any
			if string(s.Body) != "null" {
				body = string(s.Body)
			}
			a := c.With("Undoes", fmt.Sprintf("%s/%d", entry, s.Number)).Raw(s.Method+" "+s.Path, body) // its header is between services, and no description has its refusals
			switch {
			case a.Status < 300:
				c.s.mu.Lock()
				c.s.takenBack[t.Operation] = true
				c.s.mu.Unlock()
			case a.Status == 412:
				left = append(left, t.Operation+": changed by "+a.Text("data.by"))
			default:
				left = append(left, t.Operation+": "+a.Text("code"))
			}
		}
	}
	return left
}

// CheckUndo requires that each operation that writes says how a call of it is taken back, or why it cannot be, and that TakeBack has taken back one of each.
func (s *Service) CheckUndo() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong []string
	for _, e := range s.Parts.Ops.Entries() {
		u, ways := e.Undo, 0
		for _, declared := range []bool{u.By != "", u.Steps, u.Never != ""} {
			if declared {
				ways++
			}
		}
		_, passes := e.Fails[op.AnyRefusal]
		switch {
		case e.Reads || passes || e.Perm == op.Public || strings.HasPrefix(e.Path(), "/auth/"):
			if ways != 0 {
				wrong = append(wrong, e.ID+" leaves nothing to take back, and says how")
			}
		case ways != 1:
			wrong = append(wrong, e.ID+" does not say in one way how it is taken back")
		case u.By != "" && !slices.ContainsFunc(s.Parts.Ops.Entries(), func(o *op.Entry) bool { return o.ID == u.By }):
			wrong = append(wrong, e.ID+" is taken back by "+u.By+", which is not there")
		case u.Never == "" && !s.takenBack[e.ID]:
			wrong = append(wrong, e.ID+" was never taken back: add a call of it to the test")
		}
	}
	slices.Sort(wrong)
	require.Empty(s.t, wrong)
}
