package definition

import (
	"encoding/json"

	"frontdesk/libs/look"
)

// readStyle reads a style, whose properties are those of the site's. A property that is null or empty is left out: the site's form style holds.
func readStyle(found problems, path string, raw json.RawMessage) map[string]any {
	out := map[string]any{}
	o := readObject(found, path, raw, look.Names()...)
	for name, sent := range o.values {
		p, known := look.Named(name)
		if !known {
			continue
		}
		value, wrong := p.Value(sent)
		switch {
		case !wrong.IsZero():
			found.add(o.at(name), wrong)
		case value != nil:
			out[name] = value
		}
	}
	return out
}
