package openapi

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

type stamp struct {
	ID    uuid.UUID  `json:"id"`
	Other *uuid.UUID `json:"other" nullable:"true"`
}

// describedBy is the description of a set to which add has added operations, read as a caller reads it.
func describedBy(t *testing.T, add func(*op.Set)) (doc struct {
	Tags       []op.Tag
	Paths      map[string]map[string]map[string]any
	Components map[string]map[string]map[string]any
}) {
	t.Helper()
	s := op.NewSet("desk", nil, auth.New(auth.NewIdentity(bus.New("127.0.0.1:1", bus.Login{}))))
	add(s)
	raw, err := json.Marshal(Describe(s))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &doc))
	return doc
}

func TestRefusalsFollowFromTheDeclaration(t *testing.T) {
	doc := describedBy(t, func(s *op.Set) {
		s.Under("Stamps", "What goes on letters.")
		s.Examples([]byte(`{"get-stamp": {"path": "/stamps/7", "status": 200, "answer": {"id": "x"}, "refused": {"svc_conflict sold": {"code": "svc_conflict"}}}}`))
		op.Add(s, op.Op{ID: "get-stamp", Route: "GET /stamps/{id}", Perm: auth.ViewContacts, App: "loyalty", Record: "stamp", Doc: "Get a stamp.",
			Fails: op.Fails{"svc_conflict sold": "The stamp is sold."}}, func(context.Context, *db.Tx, op.ByID) (stamp, error) { return stamp{}, nil })
		op.Add(s, op.Op{ID: "list-stamps", Route: "GET /stamps", Perm: op.Public, Doc: "List stamps."},
			func(context.Context, *db.Tx, op.None) (db.List[stamp], error) { return db.List[stamp]{}, nil })
		op.Add(s, op.Op{ID: "create-stamp", Route: "POST /stamps", Perm: auth.ViewContacts, Status: 201, Doc: "Create a stamp."},
			func(context.Context, *db.Tx, op.None) (stamp, error) { return stamp{}, nil })
	})
	require.Equal(t, []op.Tag{{Name: "Stamps", Description: "What goes on letters."}}, doc.Tags)
	get := doc.Paths["/stamps/{id}"]["get"]
	answers := get["responses"].(map[string]any)
	for _, status := range []string{"200", "400", "401", "403", "404", "406", "409", "429", "500", "503"} {
		require.Contains(t, answers, status)
	}
	require.Len(t, answers, 10)
	require.NotContains(t, doc.Paths["/stamps"]["get"]["responses"], "401", "a public operation needs no credential")
	require.Contains(t, doc.Paths["/stamps"]["post"]["responses"], "415")

	t.Run("those of the declaration are shared, its own are not", func(t *testing.T) {
		require.Equal(t, map[string]any{"$ref": "#/components/responses/NotFoundOrOff"}, answers["404"])
		codes := doc.Components["responses"]["NotFoundOrOff"]["x-codes"].([]any)
		require.Equal(t, "svc_no_route", codes[0].(map[string]any)["code"])
		require.Equal(t, "svc_not_found", codes[1].(map[string]any)["code"])
		own := answers["409"].(map[string]any)
		require.Equal(t, "- `svc_conflict` with reason `sold`: The stamp is sold.", own["description"])
		examples := own["content"].(map[string]any)["application/json"].(map[string]any)["examples"].(map[string]any)
		require.Contains(t, examples, "svc_conflict.sold")
	})
	t.Run("ids and lists have one shape", func(t *testing.T) {
		properties := doc.Components["schemas"]["Stamp"]["properties"].(map[string]any)
		require.Equal(t, "#/components/schemas/Id", properties["id"].(map[string]any)["$ref"])
		require.Equal(t, []any{"string", "null"}, properties["other"].(map[string]any)["type"])
		require.Equal(t, "#/components/schemas/List", doc.Components["schemas"]["ListStamp"]["allOf"].([]any)[0].(map[string]any)["$ref"])
	})
	t.Run("parameters have a description, and the value of the example", func(t *testing.T) {
		id := get["parameters"].([]any)[0].(map[string]any)
		require.Equal(t, "The id of the stamp.", id["description"])
		require.Equal(t, "7", id["example"])
	})
}

type graded struct {
	Grade *string `json:"grade" enum:"mint,used" doc:"How it looks; null for unknown."`
}

func TestNullIsOneOfTheWordsOfAnAnswerThatMayLackOne(t *testing.T) {
	doc := describedBy(t, func(s *op.Set) {
		op.Add(s, op.Op{ID: "get-grade", Route: "GET /grade", Perm: op.Public, Doc: "Get a grade."}, func(context.Context, *db.Tx, op.None) (graded, error) { return graded{}, nil })
		op.Add(s, op.Op{ID: "find-grade", Route: "GET /grades", Perm: op.Public, Doc: "Get a grade."}, func(context.Context, *db.Tx, op.None) (graded, error) { return graded{}, nil })
	})
	properties, ok := doc.Components["schemas"]["Graded"]["properties"].(map[string]any)
	require.True(t, ok, doc.Components)
	require.Equal(t, []any{"mint", "used", nil}, properties["grade"].(map[string]any)["enum"])
}

func TestAnOperationThatTakesAnyBodySaysSo(t *testing.T) {
	doc := describedBy(t, func(s *op.Set) {
		op.Add(s, op.Op{ID: "drop-letter", Route: "POST /boxes/{token}", Perm: op.Public, Doc: "Drop a letter."}, func(context.Context, *db.Tx, op.Sent) (op.None, error) { return op.None{}, nil })
	})
	drop := doc.Paths["/boxes/{token}"]["post"]
	require.Contains(t, drop["requestBody"].(map[string]any)["content"], "application/octet-stream")
	require.NotContains(t, drop["responses"], "415")
	require.Contains(t, drop["responses"], "413")
	require.Equal(t, "token", drop["parameters"].([]any)[0].(map[string]any)["name"])
}

func TestTheManifestSaysWhichRequestsTheGatewayMayRepeatUnderTheirKey(t *testing.T) {
	s := op.NewSet("desk", nil, auth.New(auth.NewIdentity(bus.New("127.0.0.1:1", bus.Login{}))))
	add := func(o op.Op) {
		o.Doc, o.Perm = "Does something with stamps.", auth.ViewContacts
		op.Add(s, o, func(context.Context, *db.Tx, op.None) (stamp, error) { return stamp{}, nil })
	}
	add(op.Op{ID: "create-stamp", Route: "POST /stamps"})
	add(op.Op{ID: "find-stamps", Route: "POST /stamps/find", Reads: true, Ability: "-"})
	add(op.Op{ID: "get-stamps", Route: "GET /stamps"})
	add(op.Op{ID: "change-stamp", Route: "PATCH /stamps"})
	add(op.Op{ID: "sign-in-stamp", Route: "POST /auth/stamps", Ability: "-"})
	repeated := func() (ids []string) {
		m, err := Manifest(s)
		require.NoError(t, err)
		for _, r := range m.GetRoutes() {
			if r.GetReplays() {
				ids = append(ids, r.GetId())
			}
		}
		return ids
	}
	require.Empty(t, repeated(), "without fingerprints no key is read")
	s.Fingerprints = func(request []byte) [][]byte { return [][]byte{request} }
	require.Equal(t, []string{"create-stamp"}, repeated(), "neither its ability, which reads no key, nor what signs in")
}
