package op

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

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

// abilities serves /v1/abilities/svc/{name} and its run.
func (s *Set) abilities(routes router) {
	for _, e := range s.tools() {
		if e.Hidden {
			continue
		}
		path := "/abilities/svc/" + e.ability()
		// For callers who are signed in, an ability that is off is 404: see abilityCaller.
		always := func() bool { return true }
		routes.add(http.MethodGet, path, always, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			actor, err := s.abilityCaller(r, e)
			if err == nil {
				err = secondFactorGiven(actor)
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
		routes.add(e.runMethod(), path+"/run", always, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	if !e.on() {
		return db.Actor{}, fault.NotFound("ability")
	}
	actor, err := s.Auth.Authenticate(r.Context(), r)
	if err != nil {
		return actor, err
	}
	if !actor.SignedIn() {
		return actor, fault.Unauthorized("Sign in, or use an application password.")
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
	out, err := e.call(ctx, call)
	if err != nil {
		return nil, err
	}
	if stream, ok := out.(streamer); ok {
		file := &inMemory{header: http.Header{}}
		if err := stream(file); err != nil {
			return nil, err
		}
		return encode(file.String())
	}
	if e.status(out) == http.StatusNoContent {
		return nil, nil
	}
	return encode(out)
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

// inMemory keeps a download, for callers that get it inside JSON.
type inMemory struct {
	bytes.Buffer
	header http.Header
}

func (m *inMemory) Header() http.Header { return m.header }
func (m *inMemory) WriteHeader(int)     {}
