package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Problem says what is wrong with one parameter. Code is for programs and never changes its meaning; Text is for
// people and completes a sentence that begins with the parameter's name: "must not be empty". Facts are the values
// that Text names, for programs that say it in another language.
type Problem struct {
	Code  string
	Text  string
	Facts map[string]any
}

// Details gives the code, as "code", and the facts beside it.
func (p Problem) Details() map[string]any {
	all := maps.Clone(p.Facts)
	if all == nil {
		all = map[string]any{}
	}
	all["code"] = p.Code
	return all
}

// MarshalJSON gives the Details.
func (p Problem) MarshalJSON() ([]byte, error) { return json.Marshal(p.Details()) }

// IsZero reports whether nothing is wrong.
func (p Problem) IsZero() bool { return p.Code == "" }

// NewProblem makes a problem of a code that has no function below; facts are name and value in turn.
func NewProblem(code, text string, facts ...any) Problem {
	return Problem{Code: code, Text: text, Facts: named(facts)}
}

// The problems that most parameters can have. Each has one code, wherever it is found.

// Required says that a parameter is missing.
func Required() Problem { return NewProblem("required", "is required") }

// Null says that a parameter is null and cannot be.
func Null() Problem { return NewProblem("null", "must not be null") }

// Empty says that a text is blank or a list has no entry.
func Empty() Problem { return NewProblem("empty", "must not be empty") }

// Unknown says that the operation has no parameter of this name.
func Unknown() Problem { return NewProblem("unknown", "is not known here") }

// Twice says that a value is given more than once.
func Twice() Problem { return NewProblem("twice", "is there twice") }

// TooLong says that a text has more than most characters.
func TooLong(most int) Problem {
	return NewProblem("too_long", fmt.Sprintf("must have at most %d characters", most), "max", most)
}

// TooShort says that a text has fewer than least characters.
func TooShort(least int) Problem {
	return NewProblem("too_short", fmt.Sprintf("must have at least %d characters", least), "min", least)
}

// TooMany says that a list has more than most entries.
func TooMany(most int) Problem {
	return NewProblem("too_many", fmt.Sprintf("must have at most %d items", most), "max", most)
}

// TooFew says that a list has fewer than least entries.
func TooFew(least int) Problem {
	return NewProblem("too_few", fmt.Sprintf("must have at least %d items", least), "min", least)
}

// TooHigh says that a number is above most.
func TooHigh(most any) Problem {
	return NewProblem("too_high", fmt.Sprintf("must be at most %v", most), "max", most)
}

// TooLow says that a number is below least.
func TooLow(least any) Problem {
	return NewProblem("too_low", fmt.Sprintf("must be at least %v", least), "min", least)
}

// NotOneOf says that a value is not in the list of allowed values.
func NotOneOf(allowed ...string) Problem {
	shown := slices.Clone(allowed)
	for i, v := range shown {
		if strings.ContainsAny(v, ",; ") {
			shown[i] = strconv.Quote(v)
		}
	}
	return NewProblem("not_one_of", "must be one of "+strings.Join(shown, ", "), "allowed", allowed)
}

// Type says that a value has another JSON type than the one named: "a string", "true or false".
func Type(want string) Problem { return NewProblem("type", "must be "+want, "type", want) }

// Format says that a text is not in the format that what names; example shows a valid text: Format("email", "an email
// address", "name@example.com"). Its code is the kind.
func Format(kind, what, example string) Problem {
	if example == "" {
		return NewProblem(kind, "must be "+what)
	}
	return NewProblem(kind, "must be "+what+" such as "+example, "example", example)
}

// Email says that a text is no email address.
func Email() Problem { return Format("email", "an email address", "name@example.com") }

// Website says that a text is no address of a page.
func Website() Problem { return Format("url", "a web address", "https://example.com") }

// Day says that a text is no day of the calendar.
func Day() Problem { return Format("date", "a date", "2026-12-31") }

// ControlCharacters says that a text contains control characters. lines is true if line breaks are allowed.
func ControlCharacters(lines bool) Problem {
	if lines {
		return NewProblem("control_characters", "must not have control characters")
	}
	return NewProblem("control_characters", "must be one line, without control characters")
}

// Problems collects what is wrong, by the name or path of the parameter.
type Problems map[string]Problem

// Add notes a problem of a parameter. It keeps the first problem of each parameter and ignores a zero Problem.
func (ps Problems) Add(name string, p Problem) {
	if _, there := ps[name]; !there && !p.IsZero() {
		ps[name] = p
	}
}

// Err is nil when nothing is wrong, else 400 svc_invalid_param with data.params (name to text) and data.details
// (name to code and facts).
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.fault()
}

func (ps Problems) fault() *Fault {
	names := slices.Sorted(maps.Keys(ps))
	message := "Some parameters are not valid: " + strings.Join(names, ", ") + "."
	if len(names) == 1 {
		message = names[0] + " " + ps[names[0]].Text + "."
	}
	params := make(map[string]string, len(ps))
	for name, p := range ps {
		params[name] = p.Text
	}
	return New(http.StatusBadRequest, "svc_invalid_param", message, "params", params, "details", map[string]Problem(ps))
}

// Invalid refuses one parameter: 400 svc_invalid_param.
func Invalid(name string, p Problem) *Fault { return Problems{name: p}.fault() }
