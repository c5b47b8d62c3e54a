package op

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Undo says how a call of an operation is taken back: by one operation, by steps that its function names, or never.
type Undo struct {
	// By is the operation of the same service that takes it back. Values of its path are those of the call, and for one that the call has not the id of
	// its answer. Values of its body are those of before of the fields that the call has changed, see db.Tx.Changed and db.Tx.Was. A call that answers
	// another status than the 201 of its operation has made nothing, and leaves nothing to take back.
	By string
	// With are values of its input beside those.
	With map[string]any
	// Steps says that the function names the calls, with db.Tx.TakeBack.
	Steps bool
	// Never is why it cannot be taken back: one of the constants below.
	Never string
}

// Why a call cannot be taken back.
const (
	NothingStays = "nothing"  // it leaves nothing that could be taken back
	WentOut      = "sent"     // a mail or a call went out
	ForGood      = "deleted"  // it deletes for good, or joins what cannot be parted
	Access       = "access"   // it is about who gets in and what they may do, which a person decides each time
	Consent      = "consent"  // it says what a client agreed to, or did not
	OwnChoice    = "personal" // it is about how somebody has the product for themselves
	Elsewhere    = "outside"  // it is about another system
	ByHand       = "by_hand"  // nobody has declared yet how; a person does it
)

type callKey struct{}

// called is the call that a transaction belongs to.
type called struct {
	e *Entry
	r *request
}

// undoes is the header of a call that takes another one back: the id of that one's audit entry, a slash, and the number of the step. Behind a semicolon
// "user" says that what the same user did since by whichever credential is a part of it.
const undoes = "Undoes"

// readUndoes reads the header of a person who is signed in. Nobody else takes calls back.
func (r *request) readUndoes() error {
	text := r.http.Header.Get(undoes)
	if text == "" || !r.actor.Session || r.asAbility {
		return nil
	}
	text, scope, _ := strings.Cut(text, ";")
	id, step, _ := strings.Cut(text, "/")
	entry, err := uuid.Parse(id)
	n, wrong := strconv.Atoi(step)
	if err != nil || wrong != nil || n < 0 {
		return fault.Invalid(undoes, fault.Format("undoes", "the id of an audit entry and the number of a step", "019f…/0"))
	}
	r.undoes = &db.Undoing{Entry: entry, Step: n, OfUser: scope == "user"}
	return nil
}

// refusedUndo is why a call was refused: one that takes another one back because somebody else has just done that, if so. What it was to change is then as it
// was to become, which many operations refuse.
func (r *request) refusedUndo(ctx context.Context, tx *db.Tx, refusal error) error {
	if r.undoes == nil {
		return refusal
	}
	if undone := tx.Undone(ctx, *r.undoes); fault.From(undone).Status == http.StatusConflict {
		return undone
	}
	return refusal
}

// untouched refuses a call that takes another one back if somebody else has changed the record since.
func (e *Entry) untouched(ctx context.Context, tx *db.Tx, r *request, out any) error {
	if r.undoes == nil {
		return nil
	}
	key := e.recordKey(e.pathValues(r), e.answerID(out))
	touched, own := tx.Touched(), map[string]int64{}
	if v, ok := touched[key]; ok {
		own[key] = v.Was
	} else if matched, ok := tx.Matched(); ok {
		own[key] = matched
	}
	known, err := tx.Untouched(ctx, *r.undoes, own)
	if err != nil || known {
		return err
	}
	// The call was about no record alone, such as an order: each that both have changed counts.
	all := map[string]int64{}
	for record, v := range touched {
		all[record] = v.Was
	}
	_, err = tx.Untouched(ctx, *r.undoes, all)
	return err
}

// keepDeed writes an audit entry and keeps how the call is taken back.
func keepDeed(ctx context.Context, tx *db.Tx, a *proto.Audit, out any) error {
	c, ok := ctx.Value(callKey{}).(called)
	if !ok || a.GetOutcome() != "done" {
		return tx.Audit(ctx, a)
	}
	d := db.Deed{Operation: c.e.ID, RecordType: a.GetRecordType(), RecordID: a.GetRecordId(), Undoes: c.r.undoes}
	if d.Undoes != nil {
		a.Undoes = d.Undoes.Entry.String()
	}
	touched := tx.Touched()
	if touched == nil {
		touched = map[string]db.Versions{}
	}
	path := c.e.pathValues(c.r)
	answered := cmp.Or(c.e.answerID(out), a.GetRecordId())
	key := c.e.recordKey(path, answered)
	if v, ok := out.(Versioned); ok {
		own, known := touched[key]
		own.Became = v.RecordVersion()
		matched, compared := tx.Matched()
		switch {
		case compared:
			own.Was = matched
		case !known && c.e.status(out) == http.StatusCreated:
			own.Was = own.Became - 1
		case !known: // nothing has changed
			own.Was = own.Became
		}
		if touched[key] = own; own.Was == own.Became {
			delete(touched, key)
		}
	} else if matched, compared := tx.Matched(); compared && len(touched) > 0 {
		if _, known := touched[key]; !known {
			touched[key] = db.Versions{Was: matched, Became: matched + 1}
		}
	}
	switch d.Reason = c.e.Undo.Never; {
	case d.Reason == NothingStays, c.e.Reads, strings.HasPrefix(c.e.Path(), "/auth/"):
		d.Reason = ""
	case !c.e.Undo.Steps && c.e.Undo.By == "" && d.Reason == "":
		d.Reason = ByHand
	}
	if c.e.Undo.Steps {
		if d.Steps = tx.Steps(); len(d.Steps) == 0 && len(touched) > 0 {
			d.Reason = ByHand
		}
	} else if by := c.e.set.named(c.e.Undo.By); by != nil && !c.e.wasThere(out) {
		_, changed := touched[key]
		d.Steps = c.e.inverse(by, tx, path, answered, changed)
	}
	var err error
	if d.Entry, err = tx.AuditEntry(ctx, a); err != nil {
		return err
	}
	return tx.KeepDeed(d, touched)
}

// wasThere reports whether the call of an operation that makes a record has found it there.
func (e *Entry) wasThere(out any) bool {
	return slices.Contains(e.Statuses(), http.StatusCreated) && e.status(out) != http.StatusCreated
}

// inverse is the call of by that takes a call back; none if that changed nothing.
func (e *Entry) inverse(by *Entry, tx *db.Tx, path map[string]json.RawMessage, answered string, changed bool) []db.Step {
	in := map[string]any{}
	maps.Copy(in, e.Undo.With)
	before, found, last := tx.Before(), false, ""
	if e.Status == http.StatusCreated {
		if names := parameters(by.Path()); len(names) > 0 {
			last = names[len(names)-1] // what was made, and not what it was made of
		}
	}
	for _, f := range by.In {
		if f.InPath {
			if v, ok := path[f.Name]; ok && f.Name != last {
				in[f.Name] = trimQuotes(v)
			} else {
				in[f.Name] = answered
			}
			continue
		}
		if c, whole := before[f.Name]; whole {
			in[f.Name], found = c.Old, true
			continue
		}
		for name, c := range before {
			first, inside, nested := strings.Cut(name, ".")
			switch {
			case first != f.Name || !nested:
				continue
			case f.Schema.Type != huma.TypeObject && inside == "id":
				in[f.Name] = c.Old // a record is shown, its id is asked for
			case f.Schema.Type == huma.TypeObject || f.Schema.Ref != "":
				object, _ := in[f.Name].(map[string]any)
				if object == nil {
					object = map[string]any{}
				}
				nest(object, strings.Split(inside, "."), c.Old)
				in[f.Name] = object
			default:
				continue
			}
			found = true
		}
	}
	if by == e && !found || !changed && !found && len(before) == 0 && len(path) > 0 && e.Tagged {
		return nil
	}
	return []db.Step{{Operation: by.ID, Input: in}}
}

func nest(object map[string]any, names []string, v any) {
	if len(names) == 1 {
		object[names[0]] = v
		return
	}
	inner, _ := object[names[0]].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
	}
	nest(inner, names[1:], v)
	object[names[0]] = inner
}

// pathValues are the values of the call's path as JSON.
func (e *Entry) pathValues(r *request) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, f := range e.In {
		switch {
		case !f.InPath:
		case r.asAbility:
			values[f.Name] = r.args[f.Name]
		default:
			values[f.Name] = f.JSON([]string{r.http.PathValue(f.Name)})
		}
	}
	return values
}

// recordKey names the record that a call is about: the one that it makes, else the last one of its path, of parts without a UUID the first, else the path
// itself.
func (e *Entry) recordKey(path map[string]json.RawMessage, answered string) string {
	id := answered
	if names := parameters(e.Path()); len(names) > 0 && (e.Status != http.StatusCreated || answered == "") {
		id = trimQuotes(path[names[len(names)-1]])
		if _, err := uuid.Parse(id); err != nil {
			id = trimQuotes(path[names[0]])
		}
	}
	if id == "" {
		return e.Record + e.Path()
	}
	return db.RecordKey(e.Record, id)
}

// parameters are the names of the parameters of a path.
func parameters(path string) (names []string) {
	for segment := range strings.SplitSeq(path, "/") {
		if isParameter(segment) {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

func (s *Set) named(id string) *Entry {
	if i := slices.IndexFunc(s.ops, func(e *Entry) bool { return e.ID == id }); i >= 0 && id != "" {
		return s.ops[i]
	}
	return nil
}

// TakenBack is how a call is taken back.
type TakenBack struct {
	Entry      uuid.UUID `json:"entry" format:"uuid" doc:"The id of its audit entry."`
	Operation  string    `json:"operation" doc:"The operation that was called."`
	RecordType string    `json:"record_type" doc:"The kind of its record."`
	RecordID   string    `json:"record_id" doc:"The id of its record; empty for many or none."`
	Reason     string    `json:"reason" doc:"Why it cannot be taken back; empty for what can be, and for what leaves nothing."`
	Steps      []Inverse `json:"steps" doc:"The calls that take it back, in their order. Those that were made are left out."`
}

// Inverse is a call that takes another one back.
type Inverse struct {
	Number    int             `json:"number" doc:"Its number, for the header Undoes."`
	Operation string          `json:"operation" doc:"The operation."`
	Method    string          `json:"method" doc:"The method of the request."`
	Path      string          `json:"path" doc:"The path behind /v1, with its query."`
	Body      json.RawMessage `json:"body" doc:"The body of the request; null for none."`
}

// MostUndone is how many calls are taken back at once.
const MostUndone = 500

// AddUndo declares how calls of the set are taken back, which settings asks for.
func AddUndo(s *Set) {
	s.Under("Taking back", "What somebody did within some hours, and taking it back.")
	Add(s, Op{ID: "get-undo-steps-of-" + s.Service, Route: "POST /undo/" + s.Service, Perm: auth.ManageIntegrations, PersonOnly: true, SeesAll: true, Reads: true, Ability: "-",
		Doc: "Read by which calls of " + s.Service + " others are taken back, by their audit entries. POST /undo of settings makes them."},
		func(ctx context.Context, tx *db.Tx, in struct {
			Entries []uuid.UUID `json:"entries" required:"true" minItems:"1" maxItems:"500" doc:"The ids of audit entries. Those of other services, and older ones than thirty days, have no row in the answer."`
		}) (db.List[TakenBack], error) {
			deeds, err := tx.Deeds(ctx, in.Entries)
			if err != nil {
				return db.List[TakenBack]{}, err
			}
			all := make([]TakenBack, len(deeds))
			for i, d := range deeds {
				all[i] = TakenBack{Entry: d.Entry, Operation: d.Operation, RecordType: d.RecordType, RecordID: d.RecordID, Reason: d.Reason, Steps: []Inverse{}}
				for n := len(d.Steps) - 1; n >= 0; n-- {
					by := s.named(d.Steps[n].Operation)
					if by == nil {
						continue // it was taken back, or a version that is gone has named it
					}
					step, err := by.asCall(n, d.Steps[n].Input)
					if err != nil {
						return db.List[TakenBack]{}, err
					}
					all[i].Steps = append(all[i].Steps, step)
				}
			}
			return db.All(all), nil
		})
}

// asCall is the request of e with an input.
func (e *Entry) asCall(number int, input map[string]any) (Inverse, error) {
	c := Inverse{Number: number, Operation: e.ID, Method: e.Method(), Path: e.Path(), Body: json.RawMessage("null")}
	body, query := maps.Clone(input), url.Values{}
	for _, f := range e.In {
		v, given := input[f.Name]
		switch {
		case f.InPath:
			c.Path = strings.ReplaceAll(c.Path, "{"+f.Name+"}", url.PathEscape(fmt.Sprint(v)))
			delete(body, f.Name)
		case given && c.Method == http.MethodDelete:
			query.Set(f.Name, fmt.Sprint(v))
			delete(body, f.Name)
		}
	}
	if len(query) > 0 {
		c.Path += "?" + query.Encode()
	}
	if len(body) == 0 || c.Method == http.MethodDelete {
		return c, nil
	}
	var err error
	c.Body, err = encodeJSON(body)
	return c, err
}
