package site

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/look"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
)

// formStyle is how forms and the booking widget look. A property that is null follows the theme.
type formStyle struct {
	look.Table[*string, *int]
	document.Stamp
}

// styleValue is a property as it was sent, before its rule has checked it.
type styleValue []byte

// Schema allows what some property allows.
func (styleValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}, {Type: "null"}}}
}

// UnmarshalJSON stores the JSON of the value, also of null.
func (v *styleValue) UnmarshalJSON(b []byte) error { *v = slices.Clone(b); return nil }

// RecordID names the document in the audit log.
func (formStyle) RecordID() string { return document.FormStyle }

func publishFormStyle(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc formStyle
	version, err := document.Read(ctx, tx, document.FormStyle, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.FormStyle, version, changed, doc)
}

func getFormStyle(ctx context.Context, tx *db.Tx, _ op.None) (doc formStyle, err error) {
	version, err := document.Read(ctx, tx, document.FormStyle, &doc)
	doc.Stamp = document.At(version)
	return doc, err
}

// updateFormStyle changes the properties that are sent; null or "" returns one to the theme.
func updateFormStyle(ctx context.Context, tx *db.Tx, in look.Table[styleValue, styleValue]) (formStyle, error) {
	doc, version, err := document.Change(ctx, tx, document.FormStyle, publishFormStyle, func(doc *formStyle) error {
		next, wrong := map[string]any{}, fault.Problems{}
		for p, sent := range look.Each(in) {
			if sent == nil {
				continue
			}
			value, problem := p.Value(json.RawMessage(sent))
			wrong.Add(p.Name, problem)
			next[p.Name] = value
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		raw, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encode form style: %w", err)
		}
		return json.Unmarshal(raw, doc) // what was not sent stays
	})
	doc.Stamp = document.At(version)
	return doc, err
}
