package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// undoing is the operation that takes work back.
const undoing = "undo-work"

// callsTake is how long the calls of one undo may take. The operation itself has 20 s.
const callsTake = 17 * time.Second

// work says what is taken back.
type work struct {
	UserID       int64     `json:"user_id,omitempty" minimum:"1" doc:"Whose calls: all of this user, by whichever credential. This or credential_id is needed."`
	CredentialID uuid.UUID `json:"credential_id,omitzero" doc:"Whose calls: those by this application password or connection."`
	From         time.Time `json:"from" required:"true" doc:"Calls at this moment or later."`
	To           time.Time `json:"to" required:"true" doc:"Calls before this moment."`
	DryRun       bool      `json:"dry_run,omitempty" doc:"true rehearses each call that would take something back, and changes nothing."`
}

// undone is what became of it.
type undone struct {
	Undone int         `json:"undone" doc:"How many calls were taken back."`
	Kept   []notUndone `json:"kept" doc:"What somebody else has changed since, and so stays as it is."`
	Cannot []notUndone `json:"cannot" doc:"What cannot be taken back."`
}

// notUndone is something that was not taken back.
type notUndone struct {
	Operation string       `json:"operation" doc:"The operation that did it."`
	Record    undoneRecord `json:"record" doc:"The record that it did it to."`
	Reason    string       `json:"reason" doc:"Why it stays: changed (by somebody else), sent, deleted, erased, access, consent, personal, outside or by_hand; unknown for what is too old, forbidden, gone, unavailable, or the reason by which it was refused."`
	By        *string      `json:"by" nullable:"true" doc:"Who has changed it since; null where that is nobody of the team."`
}

// undoneRecord names a record.
type undoneRecord struct {
	Type string `json:"type" doc:"Its kind."`
	ID   string `json:"id" doc:"Its id; empty for many or none."`
}

// entry is a call in the audit log.
type entry struct {
	ID         uuid.UUID
	Action     string
	RecordType string
	RecordID   string
}

func (r *Room) undo(ctx context.Context, d *db.DB, in work) (undone, error) {
	out := undone{Kept: []notUndone{}, Cannot: []notUndone{}}
	entries, err := r.entries(ctx, d, in)
	if err != nil || len(entries) == 0 {
		return out, err
	}
	calls, cancel := context.WithTimeout(ctx, callsTake)
	defer cancel()
	known, err := r.steps(calls, entries)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{} // what calls that were rehearsed would have changed
	for _, e := range entries {
		how, ok := known[e.ID]
		about := notUndone{Operation: e.Action, Record: undoneRecord{e.RecordType, e.RecordID}, Reason: "unknown"}
		switch {
		case !ok:
			out.Cannot = append(out.Cannot, about)
			continue
		case how.Reason != "":
			about.Operation, about.Reason = how.Operation, how.Reason
			out.Cannot = append(out.Cannot, about)
			continue
		case len(how.Steps) == 0:
			continue
		}
		about.Operation = how.Operation
		whole := true
		for _, s := range how.Steps {
			failed, by := r.call(calls, in, e.ID, s)
			if in.DryRun && seen[s.Path] && !slices.Contains([]string{"changed", "forbidden", "unavailable"}, failed) {
				failed = "" // what was rehearsed before has not happened, and would have made way
			}
			seen[s.Path] = seen[s.Path] || failed == ""
			if failed == "" || failed == "undone" {
				continue
			}
			whole, about.Reason, about.By = false, failed, by
			if failed == "changed" {
				out.Kept = append(out.Kept, about)
			} else {
				out.Cannot = append(out.Cannot, about)
			}
		}
		if whole {
			out.Undone++
		}
	}
	if in.DryRun {
		return out, nil
	}
	return out, d.Do(ctx, func(tx *db.Tx) error { return op.Audit(ctx, tx, undoing, "user", strconv.FormatInt(in.UserID, 10)) })
}

// entries are the calls that are asked for, the newest first.
func (r *Room) entries(ctx context.Context, d *db.DB, in work) (entries []entry, err error) {
	if in.UserID == 0 && in.CredentialID == uuid.Nil {
		return nil, fault.Invalid("user_id", fault.Required())
	}
	err = d.Read(ctx, func(tx *db.Tx) error {
		w := &db.Where{}
		w.And("a.outcome = 'done' and a.undoes is null and a.user_id is not null and a.action <> ?", undoing)
		w.And("a.created_at >= ?", in.From)
		w.And("a.created_at < ?", in.To)
		if in.UserID != 0 {
			w.And("a.user_id = ?", in.UserID)
		}
		if in.CredentialID != uuid.Nil {
			w.And("a.credential = ?", in.CredentialID.String())
		}
		entries, err = db.Rows[entry](ctx, tx, fmt.Sprintf(`select a.id, a.action, a.record_type, a.record_id from audit a where %s order by a.id desc limit %d`, w, op.MostUndone+1), w.Args...)
		return err
	})
	if len(entries) > op.MostUndone {
		return nil, fault.Invalid("from", fault.TooMany(op.MostUndone))
	}
	return entries, err
}

// steps asks each service how it takes entries back. A service that does not answer means that nothing is taken back: what it has done may
// stand in the way.
func (r *Room) steps(ctx context.Context, entries []entry) (map[uuid.UUID]op.TakenBack, error) {
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	body, err := json.Marshal(map[string]any{"entries": ids})
	if err != nil {
		return nil, err
	}
	known := map[uuid.UUID]op.TakenBack{}
	for _, service := range proto.Services {
		status, answer, err := r.send(ctx, http.MethodPost, "/undo/"+service, body, nil)
		var list db.List[op.TakenBack]
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &list) != nil {
			return nil, fault.New(http.StatusServiceUnavailable, "svc_unavailable", "The service "+service+" does not answer, so nothing was taken back. Try again in a moment.", "service", service)
		}
		for _, t := range list.Items {
			known[t.Entry] = t
		}
	}
	return known, nil
}

// call makes a call that takes an entry back, or rehearses it. It gives why it was refused, and who has changed the record since.
func (r *Room) call(ctx context.Context, in work, entry uuid.UUID, s op.Inverse) (failed string, by *string) {
	header := http.Header{"Undoes": {entry.String() + "/" + strconv.Itoa(s.Number)}}
	if in.CredentialID == uuid.Nil {
		header["Undoes"][0] += ";user"
	}
	if in.DryRun {
		header.Set("Prefer", "dry-run")
	}
	var body []byte
	if string(s.Body) != "null" {
		body = s.Body
	}
	status, answer, err := r.send(ctx, s.Method, s.Path, body, header)
	if err != nil || status >= http.StatusInternalServerError {
		return "unavailable", nil
	}
	if status < http.StatusMultipleChoices {
		return "", nil
	}
	var refusal struct {
		Code string `json:"code"`
		Data struct {
			Reason string `json:"reason"`
			By     string `json:"by"`
		} `json:"data"`
	}
	_ = json.Unmarshal(answer, &refusal) // an answer in another shape has no code
	switch {
	case status == http.StatusPreconditionFailed:
		if refusal.Data.By != "" {
			by = &refusal.Data.By
		}
		return "changed", by
	case status == http.StatusForbidden:
		return "forbidden", nil
	case status == http.StatusNotFound:
		return "gone", nil
	case refusal.Data.Reason != "":
		return refusal.Data.Reason, nil
	}
	return refusal.Code, nil
}

// send makes a request to the gateway with the session of who calls.
func (r *Room) send(ctx context.Context, method, path string, body []byte, header http.Header) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, r.Config.Gateway()+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if err := op.Onward(ctx, r.Auth, req); err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
