// Package look is the one list of the properties of a form style: what each may be, and how a browser applies it. The API of the site's style and that of a
// form's take their properties from it, pages and widgets their custom properties, and the portal reads it as look.json. libs/web/css/card.css uses
// each custom property.
package look

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
)

// Table has all properties, with their values as texts and numbers. The tag is says what kind of value one has, and which there are.
type Table[Text, Number any] struct {
	Font               Text   `json:"font" is:"font theme system-sans system-serif system-mono svc:inter svc:lora svc:merriweather svc:montserrat svc:nunito" doc:"The font; null for the standard."`
	Size               Number `json:"size" is:"pixels 12 24" doc:"The size of text in pixels; null for the standard."`
	LabelSize          Number `json:"label_size" is:"pixels 12 24" doc:"The size of labels in pixels; null for the standard."`
	HeadingSize        Number `json:"heading_size" is:"pixels 16 40" doc:"The size of headings in pixels; null for the standard."`
	FieldRadius        Number `json:"field_radius" is:"pixels 0 24" doc:"The roundness of fields in pixels; null for the standard."`
	ButtonRadius       Number `json:"button_radius" is:"pixels 0 40" doc:"The roundness of buttons in pixels; null for the standard."`
	LabelWeight        Number `json:"label_weight" is:"weight" doc:"The weight of labels; null for the standard."`
	HeadingWeight      Number `json:"heading_weight" is:"weight" doc:"The weight of headings; null for the standard."`
	ButtonWeight       Number `json:"button_weight" is:"weight" doc:"The weight of the text on buttons; null for the standard."`
	LabelStyle         Text   `json:"label_style" is:"word normal italic" doc:"Upright or italic labels; null for the standard."`
	LabelTransform     Text   `json:"label_transform" is:"word none uppercase" doc:"The case of labels; null for the standard."`
	ButtonTransform    Text   `json:"button_transform" is:"word none uppercase" doc:"The case of the text on buttons; null for the standard."`
	ButtonDecoration   Text   `json:"button_decoration" is:"word none underline" doc:"The line under the text of links that look like text; null for the standard."`
	ButtonWidth        Text   `json:"button_width" is:"word auto full" doc:"The width of buttons; null for the standard."`
	ButtonIcon         Text   `json:"button_icon" is:"choice arrow-right chevron-right send check check-circle calendar clock mail phone message user users download heart star sparkles gift ticket lock plus" doc:"The icon on buttons; null for the standard."`
	ButtonIconPosition Text   `json:"button_icon_position" is:"choice left right" doc:"Where the icon on buttons stands: left or right; null for the standard."`
	Container          Text   `json:"container" is:"choice card plain" doc:"What stands around: a card, or nothing; null for the standard."`
	Color              Text   `json:"color" is:"colour" doc:"The colour of text; null for the standard."`
	LabelColor         Text   `json:"label_color" is:"colour" doc:"The colour of labels; null for the standard."`
	HeadingColor       Text   `json:"heading_color" is:"colour" doc:"The colour of headings; null for the standard."`
	FieldBackground    Text   `json:"field_background" is:"colour" doc:"The colour of fields; null for the standard."`
	FieldBorder        Text   `json:"field_border" is:"colour" doc:"The colour of the border of fields; null for the standard."`
	FieldText          Text   `json:"field_text" is:"colour" doc:"The colour of the text in fields; null for the standard."`
	FocusColor         Text   `json:"focus_color" is:"colour" doc:"The colour of the ring around what has the focus; null for the standard."`
	ButtonBackground   Text   `json:"button_background" is:"colour" doc:"The colour of buttons; null for the standard."`
	ButtonText         Text   `json:"button_text" is:"colour" doc:"The colour of the text on buttons; null for the standard."`
	ErrorColor         Text   `json:"error_color" is:"colour" doc:"The colour of errors; null for the standard."`
	Background         Text   `json:"background" is:"colour" doc:"The colour behind it; null for the standard."`
}

// Kind is what the value of a property is.
type Kind string

// The kinds. A word stands in the style sheet, a choice is made by pages and widgets themselves.
const (
	font   Kind = "font"
	pixels Kind = "pixels"
	weight Kind = "weight"
	Colour Kind = "colour"
	word   Kind = "word"
	choice Kind = "choice"
)

// Property is one of a form style.
type Property struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Low and High are the bounds of pixels.
	Low  int `json:"low,omitempty"`
	High int `json:"high,omitempty"`
	// Values are all that there are, except of pixels and colours. A font may also be theme:<slug>.
	Values []string `json:"values,omitempty"`
}

// fonts are the font families by the names of fonts, except theme, which is that of the page around. Those that begin with svc: are files of ours.
var fonts = map[string]string{
	"system-sans":      `system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`,
	"system-serif":     `ui-serif, Georgia, Cambria, "Times New Roman", serif`,
	"system-mono":      `ui-monospace, SFMono-Regular, Menlo, Consolas, monospace`,
	"svc:inter":        `"svc-inter", system-ui, sans-serif`,
	"svc:lora":         `"svc-lora", Georgia, serif`,
	"svc:merriweather": `"svc-merriweather", Georgia, serif`,
	"svc:montserrat":   `"svc-montserrat", system-ui, sans-serif`,
	"svc:nunito":       `"svc-nunito", system-ui, sans-serif`,
}

var (
	colour    = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	themeFont = regexp.MustCompile(`^theme:([a-z0-9][a-z0-9_-]{0,49})$`)
	weights   = []string{"400", "500", "600", "700"}
)

// Properties are those of Table, in its order.
var Properties = func() (all []Property) {
	for f := range reflect.TypeFor[Table[any, any]]().Fields() {
		is := strings.Fields(f.Tag.Get("is"))
		p := Property{Name: f.Tag.Get("json"), Kind: Kind(is[0]), Values: is[1:]}
		switch p.Kind {
		case weight:
			p.Values = weights
		case pixels:
			p.Low, _ = strconv.Atoi(is[1])
			p.High, _ = strconv.Atoi(is[2])
			p.Values = nil
		}
		all = append(all, p)
	}
	return all
}()

// Names are the names of the properties.
func Names() (all []string) {
	for _, p := range Properties {
		all = append(all, p.Name)
	}
	return all
}

// Named returns the property with a name. It returns false for a name that no property has.
func Named(name string) (Property, bool) {
	i := slices.IndexFunc(Properties, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return Property{}, false
	}
	return Properties[i], true
}

// Each gives each property with its value in t.
func Each[V any](t Table[V, V]) iter.Seq2[Property, V] {
	return func(yield func(Property, V) bool) {
		for i, p := range Properties {
			if !yield(p, reflect.ValueOf(t).Field(i).Interface().(V)) {
				return
			}
		}
	}
}

// Value reads what was sent: a text, or a number where the property is one; nil for null and an empty text, which stand for the theme's. wrong is zero
// unless the property cannot have the value.
func (p Property) Value(sent json.RawMessage) (value any, wrong fault.Problem) {
	if s := string(sent); s == "null" || s == `""` {
		return nil, wrong
	}
	if p.Kind == pixels || p.Kind == weight {
		if n, err := strconv.Atoi(string(sent)); err == nil && p.has(string(sent)) {
			return n, wrong
		}
		return nil, p.problem()
	}
	var s string
	if json.Unmarshal(sent, &s) != nil {
		return nil, fault.Type("a string")
	}
	if s = strings.TrimSpace(s); p.has(s) {
		return s, wrong
	}
	return nil, p.problem()
}

// has reports whether the property can have a value.
func (p Property) has(text string) bool {
	switch p.Kind {
	case pixels:
		n, err := strconv.Atoi(text)
		return err == nil && n >= p.Low && n <= p.High
	case Colour:
		return colour.MatchString(text)
	case font:
		return slices.Contains(p.Values, text) || themeFont.MatchString(text)
	default:
		return slices.Contains(p.Values, text)
	}
}

// problem says what the property may be.
func (p Property) problem() fault.Problem {
	switch p.Kind {
	case pixels:
		return fault.NewProblem("range", fmt.Sprintf("must be a whole number from %d to %d", p.Low, p.High), "min", p.Low, "max", p.High)
	case Colour:
		return fault.Format("colour", "a colour", "#1a2b3c")
	case font:
		return fault.NotOneOf(append(slices.Clone(p.Values), "theme:<slug>")...)
	default:
		return fault.NotOneOf(p.Values...)
	}
}

// CSS is the value of the property's custom property in a style sheet; false if it has none by this value, which then is the theme's.
func (p Property) CSS(value string) (css string, ok bool) {
	switch {
	case p.Kind == choice || !p.has(value):
		return "", false
	case p.Kind == pixels:
		return value + "px", true
	case value == "full":
		return "100%", true
	case p.Kind != font:
		return value, true
	}
	if m := themeFont.FindStringSubmatch(value); m != nil {
		return "var(--wp--preset--font-family--" + m[1] + ", inherit)", true
	}
	return fonts[value], fonts[value] != ""
}

// Custom is the name of the property's custom property.
func (p Property) Custom() string { return "--svc-" + strings.ReplaceAll(p.Name, "_", "-") }
