package site

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
)

// formStyle is how forms and the booking widget look. A property that is null follows the theme.
type formStyle struct {
	Font               *string `json:"font" doc:"The font; null for the standard."`
	Size               *int    `json:"size" doc:"The size of text in pixels; null for the standard."`
	LabelSize          *int    `json:"label_size" doc:"The size of labels in pixels; null for the standard."`
	HeadingSize        *int    `json:"heading_size" doc:"The size of headings in pixels; null for the standard."`
	FieldRadius        *int    `json:"field_radius" doc:"The roundness of fields in pixels; null for the standard."`
	ButtonRadius       *int    `json:"button_radius" doc:"The roundness of buttons in pixels; null for the standard."`
	LabelWeight        *int    `json:"label_weight" doc:"The weight of labels; null for the standard."`
	HeadingWeight      *int    `json:"heading_weight" doc:"The weight of headings; null for the standard."`
	ButtonWeight       *int    `json:"button_weight" doc:"The weight of the text on buttons; null for the standard."`
	LabelStyle         *string `json:"label_style" doc:"Upright or italic labels; null for the standard."`
	LabelTransform     *string `json:"label_transform" doc:"The case of labels; null for the standard."`
	ButtonTransform    *string `json:"button_transform" doc:"The case of the text on buttons; null for the standard."`
	ButtonDecoration   *string `json:"button_decoration" doc:"The line under the text of links that look like text; null for the standard."`
	ButtonWidth        *string `json:"button_width" doc:"The width of buttons; null for the standard."`
	ButtonIcon         *string `json:"button_icon" doc:"The icon on buttons; null for the standard."`
	ButtonIconPosition *string `json:"button_icon_position" doc:"Where the icon on buttons stands: left or right; null for the standard."`
	Container          *string `json:"container" doc:"What stands around: a card, or nothing; null for the standard."`
	Color              *string `json:"color" doc:"The colour of text; null for the standard."`
	LabelColor         *string `json:"label_color" doc:"The colour of labels; null for the standard."`
	HeadingColor       *string `json:"heading_color" doc:"The colour of headings; null for the standard."`
	FieldBackground    *string `json:"field_background" doc:"The colour of fields; null for the standard."`
	FieldBorder        *string `json:"field_border" doc:"The colour of the border of fields; null for the standard."`
	FieldText          *string `json:"field_text" doc:"The colour of the text in fields; null for the standard."`
	FocusColor         *string `json:"focus_color" doc:"The colour of the ring around what has the focus; null for the standard."`
	ButtonBackground   *string `json:"button_background" doc:"The colour of buttons; null for the standard."`
	ButtonText         *string `json:"button_text" doc:"The colour of the text on buttons; null for the standard."`
	ErrorColor         *string `json:"error_color" doc:"The colour of errors; null for the standard."`
	Background         *string `json:"background" doc:"The colour behind it; null for the standard."`
	document.Stamp
}

// formStyleChange has the properties that change. null or "" returns one to the theme.
type formStyleChange struct {
	Font               styleValue `json:"font,omitempty" doc:"The font; null for the standard."`
	Size               styleValue `json:"size,omitempty" doc:"The size of text in pixels; null for the standard."`
	LabelSize          styleValue `json:"label_size,omitempty" doc:"The size of labels in pixels; null for the standard."`
	HeadingSize        styleValue `json:"heading_size,omitempty" doc:"The size of headings in pixels; null for the standard."`
	FieldRadius        styleValue `json:"field_radius,omitempty" doc:"The roundness of fields in pixels; null for the standard."`
	ButtonRadius       styleValue `json:"button_radius,omitempty" doc:"The roundness of buttons in pixels; null for the standard."`
	LabelWeight        styleValue `json:"label_weight,omitempty" doc:"The weight of labels; null for the standard."`
	HeadingWeight      styleValue `json:"heading_weight,omitempty" doc:"The weight of headings; null for the standard."`
	ButtonWeight       styleValue `json:"button_weight,omitempty" doc:"The weight of the text on buttons; null for the standard."`
	LabelStyle         styleValue `json:"label_style,omitempty" doc:"Upright or italic labels; null for the standard."`
	LabelTransform     styleValue `json:"label_transform,omitempty" doc:"The case of labels; null for the standard."`
	ButtonTransform    styleValue `json:"button_transform,omitempty" doc:"The case of the text on buttons; null for the standard."`
	ButtonDecoration   styleValue `json:"button_decoration,omitempty" doc:"The line under the text of links that look like text; null for the standard."`
	ButtonWidth        styleValue `json:"button_width,omitempty" doc:"The width of buttons; null for the standard."`
	ButtonIcon         styleValue `json:"button_icon,omitempty" doc:"The icon on buttons; null for the standard."`
	ButtonIconPosition styleValue `json:"button_icon_position,omitempty" doc:"Where the icon on buttons stands: left or right; null for the standard."`
	Container          styleValue `json:"container,omitempty" doc:"What stands around: a card, or nothing; null for the standard."`
	Color              styleValue `json:"color,omitempty" doc:"The colour of text; null for the standard."`
	LabelColor         styleValue `json:"label_color,omitempty" doc:"The colour of labels; null for the standard."`
	HeadingColor       styleValue `json:"heading_color,omitempty" doc:"The colour of headings; null for the standard."`
	FieldBackground    styleValue `json:"field_background,omitempty" doc:"The colour of fields; null for the standard."`
	FieldBorder        styleValue `json:"field_border,omitempty" doc:"The colour of the border of fields; null for the standard."`
	FieldText          styleValue `json:"field_text,omitempty" doc:"The colour of the text in fields; null for the standard."`
	FocusColor         styleValue `json:"focus_color,omitempty" doc:"The colour of the ring around what has the focus; null for the standard."`
	ButtonBackground   styleValue `json:"button_background,omitempty" doc:"The colour of buttons; null for the standard."`
	ButtonText         styleValue `json:"button_text,omitempty" doc:"The colour of the text on buttons; null for the standard."`
	ErrorColor         styleValue `json:"error_color,omitempty" doc:"The colour of errors; null for the standard."`
	Background         styleValue `json:"background,omitempty" doc:"The colour behind it; null for the standard."`
}

// styleValue is a property as it was sent, before its rule has checked it.
type styleValue []byte

// Schema allows what some property allows.
func (styleValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}, {Type: "null"}}}
}

// UnmarshalJSON stores the JSON of the value, also of null.
func (v *styleValue) UnmarshalJSON(b []byte) error { *v = slices.Clone(b); return nil }

// MarshalJSON is the JSON that was sent.
func (v styleValue) MarshalJSON() ([]byte, error) { return v, nil }

// styleRule is what a property may be: a name from a list or a pattern, or a number from a range in steps.
type styleRule struct {
	names     []string
	pattern   *regexp.Regexp
	low, high int
	step      int
}

var (
	colour    = styleRule{pattern: regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)}
	themeFont = regexp.MustCompile(`^theme:[a-z0-9][a-z0-9_-]{0,49}$`)
	weight    = styleRule{low: 400, high: 700, step: 100}
)

func oneOf(names string) styleRule   { return styleRule{names: strings.Fields(names)} }
func pixels(low, high int) styleRule { return styleRule{low: low, high: high, step: 1} }

var styleRules = map[string]styleRule{
	"font": {pattern: themeFont, names: strings.Fields("theme system-sans system-serif system-mono svc:inter svc:lora svc:merriweather svc:montserrat svc:nunito")},
	"size": pixels(12, 24), "label_size": pixels(12, 24), "heading_size": pixels(16, 40),
	"field_radius": pixels(0, 24), "button_radius": pixels(0, 40),
	"label_weight": weight, "heading_weight": weight, "button_weight": weight,
	"label_style": oneOf("normal italic"), "label_transform": oneOf("none uppercase"), "button_transform": oneOf("none uppercase"),
	"button_decoration": oneOf("none underline"), "button_width": oneOf("auto full"),
	"button_icon": oneOf("arrow-right chevron-right send check check-circle calendar clock mail phone message user users " +
		"download heart star sparkles gift ticket lock plus"),
	"button_icon_position": oneOf("left right"), "container": oneOf("card plain"),
	"color": colour, "label_color": colour, "heading_color": colour, "field_background": colour, "field_border": colour, "field_text": colour,
	"focus_color": colour, "button_background": colour, "button_text": colour, "error_color": colour, "background": colour,
}

// read is the value that a property gets: nil for the theme's. wrong is zero unless the rule refuses it.
func (r styleRule) read(raw []byte) (value any, wrong fault.Problem) {
	if s := string(raw); s == "null" || s == `""` {
		return nil, wrong
	}
	if r.step > 0 {
		if n, err := strconv.Atoi(string(raw)); err == nil && n >= r.low && n <= r.high && (n-r.low)%r.step == 0 {
			return n, wrong
		}
		return nil, r.problem()
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && (slices.Contains(r.names, s) || r.pattern != nil && r.pattern.MatchString(s)) {
		return s, wrong
	}
	return nil, r.problem()
}

// problem says what the rule allows.
func (r styleRule) problem() fault.Problem {
	switch {
	case r.step == 1:
		return fault.NewProblem("range", fmt.Sprintf("must be a whole number from %d to %d", r.low, r.high), "min", r.low, "max", r.high)
	case r.step > 1:
		return fault.NewProblem("not_one_of", "must be 400, 500, 600 or 700", "allowed", []string{"400", "500", "600", "700"})
	case r.names == nil:
		return fault.Format("colour", "a colour", "#1a2b3c")
	case r.pattern != nil:
		return fault.NewProblem("not_one_of", "must be one of "+strings.Join(r.names, ", ")+", or theme:<slug>", "allowed", r.names)
	}
	return fault.NotOneOf(r.names...)
}

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
func updateFormStyle(ctx context.Context, tx *db.Tx, in formStyleChange) (formStyle, error) {
	doc, version, err := document.Change(ctx, tx, document.FormStyle, publishFormStyle, func(doc *formStyle) error {
		change, err := properties(in)
		if err != nil {
			return err
		}
		next, err := properties(*doc)
		if err != nil {
			return err
		}
		wrong := fault.Problems{}
		for name, raw := range change {
			value, problem := styleRules[name].read(raw)
			wrong.Add(name, problem)
			if next[name], err = json.Marshal(value); err != nil {
				return fmt.Errorf("encode %s: %w", name, err)
			}
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		raw, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encode form style: %w", err)
		}
		*doc = formStyle{}
		return json.Unmarshal(raw, doc)
	})
	doc.Stamp = document.At(version)
	return doc, err
}

// properties are the fields of v as JSON has them, by name.
func properties(v any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode properties: %w", err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("decode properties: %w", err)
	}
	return all, nil
}
