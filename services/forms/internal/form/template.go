package form

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// template is a form to start from.
type template struct {
	Key         string `json:"key" doc:"The name that create-form takes."`
	Name        string `json:"name" doc:"What people read."`
	Description string `json:"description" doc:"What the form is for."`
}

func templates(context.Context, *db.Tx, op.None) (db.List[template], error) {
	var list []template
	for _, t := range definition.Templates() {
		list = append(list, template{t.Key, t.Name, t.Description})
	}
	return db.All(list), nil
}

func fromTemplate(ctx context.Context, tx *db.Tx, key string) (definition.Definition, error) {
	for _, t := range definition.Templates() {
		if t.Key != key {
			continue
		}
		cmd := &proto.EnsureFields{}
		for _, f := range t.Fields {
			cmd.Fields = append(cmd.Fields, &proto.EnsureFields_Field{Entity: f.Entity, Key: f.Key, Label: f.Label, Type: f.Type, Options: f.Options, Source: "forms"})
		}
		if len(cmd.GetFields()) == 0 {
			return t.Definition, nil
		}
		return t.Definition, tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureFields, Key: "fields", Data: cmd})
	}
	return definition.Definition{}, fault.Invalid("template", fault.NewProblem("not_one_of", "must be the key of a template"))
}
