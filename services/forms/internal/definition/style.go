package definition

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
)

// property checks one property of a style: a name from a list, whole numbers from a range, or a colour.
type property struct {
	names     []string
	low, high int64
	step      int64
	pattern   *regexp.Regexp
}

var (
	hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	themeFont = regexp.MustCompile(`^theme:[a-z0-9][a-z0-9_-]{0,49}$`)
)

func words(s string) property         { return property{names: strings.Fields(s)} }
func pixels(low, high int64) property { return property{low: low, high: high, step: 1} }

// The properties of a form's style, which are those of the site's.
var style = func() map[string]property {
	weight, colour := property{low: 400, high: 700, step: 100}, property{pattern: hexColour}
	font := words("theme system-sans system-serif system-mono svc:inter svc:lora svc:merriweather svc:montserrat svc:nunito")
	font.pattern = themeFont
	all := map[string]property{
		"font": font,
		"size": pixels(12, 24), "label_size": pixels(12, 24), "heading_size": pixels(16, 40),
		"field_radius": pixels(0, 24), "button_radius": pixels(0, 40),
		"label_weight": weight, "heading_weight": weight, "button_weight": weight,
		"label_style":     words("normal italic"),
		"label_transform": words("none uppercase"), "button_transform": words("none uppercase"),
		"button_decoration": words("none underline"), "button_width": words("auto full"),
		"button_icon": words("arrow-right chevron-right send check check-circle calendar clock mail phone message user users " +
			"download heart star sparkles gift ticket lock plus"),
		"button_icon_position": words("left right"), "container": words("card plain"),
	}
	for _, name := range strings.Fields("color label_color heading_color field_background field_border field_text focus_color " +
		"button_background button_text error_color background") {
		all[name] = colour
	}
	return all
}()

// readStyle reads a style. A property that is null or empty is left out: the site's form style holds.
func readStyle(found problems, path string, raw json.RawMessage) map[string]any {
	out := map[string]any{}
	o := readObject(found, path, raw, slices.Collect(maps.Keys(style))...)
	for name, value := range o.values {
		p, known := style[name]
		if !known || isNull(value) || string(value) == `""` {
			continue
		}
		if p.step > 0 {
			n, err := strconv.ParseInt(string(value), 10, 64)
			switch {
			case err != nil || n < p.low || n > p.high || (n-p.low)%p.step != 0:
				if p.step == 1 {
					found.add(o.at(name), wholeNumber(p.low, p.high))
				} else {
					found.add(o.at(name), fault.NotOneOf("400", "500", "600", "700"))
				}
			default:
				out[name] = int(n)
			}
			continue
		}
		s := o.line(name, 100)
		switch {
		case s == "":
		case slices.Contains(p.names, s):
			out[name] = s
		case p.pattern != nil && p.pattern.MatchString(s):
			out[name] = s
		case p.pattern == hexColour:
			found.add(o.at(name), fault.Format("colour", "a colour", "#1a2b3c"))
		case p.pattern == themeFont:
			found.add(o.at(name), fault.NotOneOf(append(slices.Clone(p.names), "theme:<slug>")...))
		default:
			found.add(o.at(name), fault.NotOneOf(p.names...))
		}
	}
	return out
}
