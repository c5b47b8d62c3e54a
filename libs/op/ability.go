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

// tools are the entries that run as abilities: of several with one name, the first.
func (s *Set) tools() []*entry {
	var tools []*entry
	for _, e := range s.ops {
		name := e.ability()
		if name == "" || e.Perm == Public || slices.ContainsFunc(tools, func(t *entry) bool { return t.ability() == name }) {
			continue
		}
		tools = append(tools, e)
	}
	return tools
}

// runMethod is how an ability is run: reading with GET, what destroys and may be repeated with DELETE,
// all else with POST.
func (e *entry) runMethod() string {
	switch {
	case e.reads() && !e.csv && !e.Audited:
		return http.MethodGet
	case e.destructive() && e.idempotent():
		return http.MethodDelete
	}
	return http.MethodPost
}

func (e *entry) destructive() bool { return e.Destructive || e.method() == http.MethodDelete }
func (e *entry) idempotent() bool {
	return e.Idempotent || e.method() == http.MethodDelete || e.method() == http.MethodPut
}

// exposed reports whether assistants may use the ability now.
func (e *entry) exposed() bool {
	if e.set.Exposed == nil {
		return !e.Hidden
	}
	return e.set.Exposed(e.AbilityName(), !e.Hidden)
}

// abilities serves /v1/abilities/svc/{name} and its run. An ability that is off or not exposed is 404 for everybody.
func (s *Set) abilities(routes router) {
	for _, e := range s.tools() {
		path := "/abilities/svc/" + e.ability()
		there := func() bool { return e.on() && e.exposed() }
		routes.add(http.MethodGet, path, there, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			actor, err := s.abilityCaller(r, e)
			if err == nil {
				err = secondFactorGiven(actor)
			}
			if err == nil && slices.Contains(actor.Denied, e.AbilityName()) {
				err = AbilityTaken()
			}
			if err != nil {
				writeFault(r.Context(), err, w)
				return
			}
			body, err := encode(s.describe(e))
			if err != nil {
				writeFault(r.Context(), err, w)
				return
			}
			_ = write(w, http.StatusOK, body)
		}))
		routes.add(e.runMethod(), path+"/run", there, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			out, err := s.runAbility(ctx, w, r, e)
			if err != nil {
				writeFault(ctx, err, w)
				return
			}
			if out == nil {
				out = json.RawMessage("null")
			}
			_ = write(w, http.StatusOK, out)
		}))
	}
}

func (s *Set) abilityCaller(r *http.Request, e *entry) (db.Actor, error) {
	if !e.on() || !e.exposed() {
		return db.Actor{}, fault.NotFound("ability")
	}
	actor, err := s.Auth.Authenticate(r.Context(), r)
	if err != nil {
		return actor, err
	}
	if !actor.SignedIn() {
		return actor, errSignIn
	}
	actor.Channel = db.ChannelAbility
	return actor, nil
}

func (s *Set) runAbility(ctx context.Context, w http.ResponseWriter, r *http.Request, e *entry) (json.RawMessage, error) {
	actor, err := s.abilityCaller(r, e)
	if err != nil {
		return nil, err
	}
	actor.Address = s.Auth.Address(r)
	call := &request{http: r, w: w, asAbility: true, actor: actor, args: map[string]json.RawMessage{}}
	// Permission before body: the input is read once the call is allowed.
	if err := e.allowed(call); err != nil {
		e.refused(db.WithActor(ctx, actor), call)
		return nil, err
	}
	if call.args, err = e.input(w, r); err != nil {
		return nil, err
	}
	if e.reads() {
		maps.DeleteFunc(call.args, blank)
	}
	out, err := e.call(ctx, call)
	if err != nil {
		return nil, err
	}
	if f, ok := out.(*file); ok {
		text, err := f.inMemory()
		if err != nil {
			return nil, err
		}
		return encode(text)
	}
	if e.status(out) == http.StatusNoContent {
		return nil, nil
	}
	body, err := encode(out)
	// A change has been made already, so its answer is given whatever its size.
	if err == nil && e.reads() && len(body) > maxAnswer {
		err = fault.AnswerTooLarge(maxAnswer)
	}
	return body, err
}

var inputKey = regexp.MustCompile(`^input\[([a-z0-9_]+)\](\[\])?$`)

// input reads {"input": {…}} or input[key]=value.
func (e *entry) input(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, error) {
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
		if i := slices.IndexFunc(e.in, func(f *field) bool { return f.name == name }); i >= 0 {
			args[name] = e.raw(e.in[i], v)
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
	for k, v := range in.Input {
		args[k] = v
	}
	return args, nil
}
