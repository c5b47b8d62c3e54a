package op

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Many names the records of a call that does the same with each of them. Embed it.
type Many struct {
	IDs []uuid.UUID `json:"ids" required:"true" minItems:"1" maxItems:"1000" doc:"The records, at most 1,000; one that is named twice counts once."`
}

// Sorted is each of the records once, in the order in which their rows are locked.
func (m Many) Sorted() []uuid.UUID {
	ids := slices.Clone(m.IDs)
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// Done is the answer of a call about many records, each of which is changed, left as it is, or refused for itself.
type Done struct {
	Changed int       `json:"changed" doc:"How many have changed."`
	Skipped int       `json:"skipped" doc:"How many were so already."`
	Failed  []NotDone `json:"failed" doc:"Those that were refused."`
}

// NotDone is one refused record.
type NotDone struct {
	ID      uuid.UUID `json:"id" doc:"The id of the record."`
	Code    string    `json:"code" doc:"The code of the refusal, such as svc_not_found."`
	Message string    `json:"message" doc:"Why it was refused."`
}

// Count counts a record that was changed, or was so already. Of an error it keeps a refusal, and gives back any other, which is that of the whole call.
func (d *Done) Count(id uuid.UUID, changed bool, err error) error {
	if err != nil {
		refused, ok := errors.AsType[*fault.Fault](err)
		if !ok || refused.Status >= http.StatusInternalServerError {
			return err
		}
		d.Failed = append(d.Failed, NotDone{id, refused.Code, refused.Message})
		return nil
	}
	if changed {
		d.Changed++
	} else {
		d.Skipped++
	}
	return nil
}

// Alone refuses a verb that is named beside others, and a call without one. verbs are those that are named; alone is set for those that stand alone.
func Alone(verbs map[string]bool) error {
	names := slices.Sorted(maps.Keys(verbs))
	if len(names) == 0 {
		return fault.Invalid("ids", fault.NewProblem("no_verb", "need something that is done with them"))
	}
	for _, name := range names {
		if verbs[name] && len(names) > 1 {
			return fault.Invalid(name, fault.NewProblem("alone", "must stand alone"))
		}
	}
	return nil
}

// AuditMany writes the one entry of a call that changed many records.
func AuditMany(ctx context.Context, tx *db.Tx, action, recordType string, ids []uuid.UUID) error {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return keepDeed(ctx, tx, &proto.Audit{Action: action, RecordType: recordType, RecordIds: texts, Outcome: "done"}, nil)
}
