package op

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// maxAnswer is the size in bytes of the largest answer of an ability that reads: assistants read it whole.
const maxAnswer = 4 << 20

// exposed reports whether assistants may use the ability now.
func (e *Entry) exposed() bool { return e.set.Exposed(e.AbilityName(), !e.Hidden) }

// abilities serves /v1/abilities/svc/{name}, if the set describes them, and its run. An ability that is off or not exposed is 404 for everybody.
func (s *Set) abilities(routes router) {
	for _, e := range s.Abilities() {
		path := "/abilities/svc/" + e.ability()
		there := func() bool { return e.on() && e.exposed() }
		show := func(w http.ResponseWriter, r *http.Request) {
			actor, err := s.abilityCaller(r, e)
			if err == nil {
				err = secondFactorGiven(actor)
			}
			if err == nil && actor.Lacks(e.AbilityName(), e.RunMethod() == http.MethodGet) {
				err = AbilityTaken()
			}
			var body []byte
			if err == nil {
				body, err = encodeJSON(s.Describe(e))
			}
			if err != nil {
				WriteFault(r.Context(), err, w)
				return
			}
			_ = write(w, http.StatusOK, body)
		}
		if s.Describe != nil {
			routes.add(http.MethodGet, path, there, http.HandlerFunc(show))
		}
		routes.add(e.RunMethod(), path+"/run", there, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			out, err := s.runAbility(ctx, w, r, e)
			if err != nil {
				WriteFault(ctx, err, w)
				return
			}
			if out == nil {
				out = json.RawMessage("null")
			}
			_ = write(w, http.StatusOK, out)
		}))
	}
}

func (s *Set) abilityCaller(r *http.Request, e *Entry) (db.Actor, error) {
	if !e.on() || !e.exposed() {
		return db.Actor{}, fault.NotFound("ability")
	}
	actor, err := e.caller(r.Context(), r)
	if err != nil {
		return actor, err
	}
	if !actor.SignedIn() {
		return actor, ErrSignIn
	}
	actor.Channel = db.ChannelAbility
	return actor, nil
}

func (s *Set) runAbility(ctx context.Context, w http.ResponseWriter, r *http.Request, e *Entry) (json.RawMessage, error) {
	actor, err := s.abilityCaller(r, e)
	if made, lost := e.madeBefore(ctx, actor); lost != nil {
		return nil, lost
	} else if made != nil {
		return encodeJSON(made)
	}
	if err != nil {
		return nil, err
	}
	call := &request{http: r, w: w, asAbility: true, actor: actor, args: map[string]json.RawMessage{}}
	call.keepBody()
	// Permission before body: the input is read once the call is allowed.
	if err := e.allowed(call); err != nil {
		e.refused(db.WithActor(ctx, actor), call)
		return nil, err
	}
	if call.args, err = e.input(w, r); err != nil {
		return nil, err
	}
	if e.Reads {
		maps.DeleteFunc(call.args, blank)
	}
	out, err := e.call(ctx, call)
	if err != nil {
		return nil, err
	}
	if rehearsal, ok := out.(*Rehearsal); ok {
		maps.Copy(w.Header(), rehearsal.Headers())
	}
	if f, ok := out.(*file); ok {
		text, err := f.inMemory()
		if err != nil {
			return nil, err
		}
		return encodeJSON(text)
	}
	if e.status(out) == http.StatusNoContent {
		return nil, nil
	}
	body, err := encodeJSON(out)
	// A change has been made already, so its answer is given whatever its size.
	if err == nil && e.Reads && len(body) > maxAnswer {
		err = fault.AnswerTooLarge(maxAnswer)
	}
	return body, err
}

var inputKey = regexp.MustCompile(`^input\[([a-z0-9_]+)\](\[\])?$`)

// input reads {"input": {…}} or input[key]=value.
func (e *Entry) input(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	values := map[string][]string{}
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	for k, v := range query {
		if k == "input" {
			if json.Unmarshal(wholeCharacters([]byte(v[0])), &args) != nil || args == nil {
				return nil, fault.Invalid("input", fault.Type("a JSON object"))
			}
			continue
		}
		if m := inputKey.FindStringSubmatch(k); m != nil {
			values[m[1]] = append(values[m[1]], v...)
		}
	}
	for name, v := range values {
		if i := slices.IndexFunc(e.In, func(f *Field) bool { return f.Name == name }); i >= 0 {
			args[name] = e.In[i].JSON(v)
		} else {
			args[name], _ = json.Marshal(v[0])
		}
	}
	if r.Method == http.MethodGet {
		return args, nil
	}
	body, err := readJSON(w, r, e.MaxBody)
	if err != nil || body == nil {
		return args, err
	}
	var in struct {
		Input map[string]json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fault.InvalidJSON(`The body must be {"input": {…}}.`)
	}
	maps.Copy(args, in.Input)
	return args, nil
}

// inMemory returns the file as text; svc_too_large if that exceeds maxAnswer.
func (f *file) inMemory() (string, error) {
	defer f.leave()
	var text limited
	err := f.write(f.ctx, &Download{to: &text})
	return string(text), err
}

// limited keeps up to maxAnswer bytes.
type limited []byte

func (l *limited) Write(b []byte) (int, error) {
	if len(*l)+len(b) > maxAnswer {
		return 0, fault.AnswerTooLarge(maxAnswer)
	}
	*l = append(*l, b...)
	return len(b), nil
}
