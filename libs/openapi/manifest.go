package openapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Manifest is the service's entry for the gateway and settings: routes, abilities and OpenAPI. The caller adds BaseUrl, App
// and Pages.
func Manifest(s *op.Set) (*proto.Manifest, error) {
	m := &proto.Manifest{Service: s.Service}
	for _, e := range s.Entries() {
		m.Routes = append(m.Routes, &proto.Route{Id: e.ID, Method: e.Method(), Path: e.Path(), App: e.App,
			Public: e.Perm == op.Public && !e.SameOrigin, Stream: e.Download || e.Events, Replays: e.Replays() && s.Fingerprints != nil})
	}
	for _, e := range s.Abilities() {
		a := DescribeAbility(s, e)
		in, err := json.Marshal(a.InputSchema)
		if err != nil {
			return nil, err
		}
		out, err := json.Marshal(a.OutputSchema)
		if err != nil {
			return nil, err
		}
		m.Abilities = append(m.Abilities, &proto.Ability{Name: a.Name, Label: a.Label, Description: a.Description,
			InputSchema: in, OutputSchema: out, Permission: e.Perm, ReadOnly: e.RunMethod() == http.MethodGet,
			Destructive: e.Destructive, Idempotent: e.Idempotent, Exposed: !e.Hidden,
			OpenWorld: e.Outside, Rehearses: e.Rehearses(), App: e.App, Operation: e.ID})
		path, name := "/abilities/"+a.Name, strings.TrimPrefix(a.Name, "svc/")
		m.Routes = append(m.Routes, &proto.Route{Id: "ability-" + name, Method: http.MethodGet, Path: path, App: e.App},
			&proto.Route{Id: "run-" + name, Method: e.RunMethod(), Path: path + "/run", App: e.App, Stream: e.Download})
	}
	var err error
	m.Openapi, err = json.Marshal(Describe(s))
	return m, err
}
