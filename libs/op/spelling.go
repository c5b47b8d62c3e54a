package op

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"frontdesk/libs/fault"
)

// blank reports whether a filter has no value: an empty text, as in an address, or null, as programs write it.
func blank(_ string, raw json.RawMessage) bool { return string(raw) == `""` || string(raw) == "null" }

// wholeNumbers writes each whole number in JSON as Go reads it into an integer: 5.0 and 5e0 are 5. Text that has none comes back as it is.
func wholeNumbers(text []byte) []byte {
	v, err := decoded(text)
	if err != nil {
		return text
	}
	written, err := json.Marshal(rewritten("", v, wholeNumber))
	if err != nil {
		return text
	}
	return written
}

func wholeNumber(_ string, v any) any {
	if n, ok := v.(json.Number); ok {
		_, err := n.Int64()
		if f, wrong := n.Float64(); err != nil && wrong == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return int64(f)
		}
	}
	return v
}

// decoded is the value of a JSON text, with numbers as they are written.
func decoded(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// rewritten is a decoded value in which leaf has replaced each value that holds no others. It gets the name of the value, or of the list around it.
func rewritten(name string, v any, leaf func(name string, v any) any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = rewritten(name, v[i], leaf)
		}
	case map[string]any:
		for name := range v {
			v[name] = rewritten(name, v[name], leaf)
		}
	default:
		return leaf(name, v)
	}
	return v
}

// hinted adds to the problem of a time what its value lacks, where that can be told.
func hinted(p fault.Problem, value any) fault.Problem {
	text, ok := value.(string)
	if !ok || p.Code != "format" || !strings.Contains(p.Text, "date-time") {
		return p
	}
	is := func(text string) bool { _, err := time.Parse(time.RFC3339, text); return err == nil }
	switch {
	case is(strings.Replace(text, " ", "+", 1)):
		return fault.NewProblem("format", p.Text+": in an address + means a blank, so write %2B", "hint", "plus")
	case is(strings.Replace(text, " ", "T", 1)):
		return fault.NewProblem("format", p.Text+": a T stands between day and time", "hint", "separator")
	case is(strings.Replace(text, " ", "T", 1) + "Z"):
		return fault.NewProblem("format", p.Text+": the zone is missing, as in "+strings.Replace(text, " ", "T", 1)+"Z", "hint", "zone")
	}
	return p
}
