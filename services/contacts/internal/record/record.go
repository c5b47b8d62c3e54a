// Package record compares and combines two records of one kind, contacts or organizations, by a single list of their
// fields. It knows no database, and no function here changes the records that it is given.
package record

import (
	"maps"
	"slices"

	"frontdesk/libs/change"
)

// Fields lists the fields of R. Fill, Overwrite, Diff and Lost follow from it, so that a field is named once.
type Fields[R any] []Field[R]

// Field is one field of R. Make one with Text, User, Words, Values or Managed.
type Field[R any] struct {
	Name string

	fill, overwrite func(r, from *R) // nil for a field that only the service sets
	filled          func(r *R) bool
	note            func(c change.Set, old, new *R)
}

// Text is a field whose empty value is "".
func Text[R any](name string, of func(*R) *string) Field[R] {
	return Field[R]{
		Name: name,
		fill: func(r, from *R) {
			if *of(r) == "" {
				*of(r) = *of(from)
			}
		},
		overwrite: func(r, from *R) { *of(r) = *of(from) },
		filled:    func(r *R) bool { return *of(r) != "" },
		note:      func(c change.Set, old, new *R) { c.Note(name, *of(old), *of(new)) },
	}
}

// User is a field with the id of a user; it may be empty.
func User[R any](name string, of func(*R) **int64) Field[R] {
	value := func(r *R) any {
		if *of(r) == nil {
			return nil
		}
		return **of(r)
	}
	return Field[R]{
		Name: name,
		fill: func(r, from *R) {
			if *of(r) == nil {
				*of(r) = *of(from)
			}
		},
		overwrite: func(r, from *R) { *of(r) = *of(from) },
		filled:    func(r *R) bool { return *of(r) != nil },
		note:      func(c change.Set, old, new *R) { c.Note(name, value(old), value(new)) },
	}
}

// Words is a list of words without order of importance. To fill it is to add the words that it lacks.
func Words[R any](name string, of func(*R) *[]string) Field[R] {
	return Field[R]{
		Name:      name,
		fill:      func(r, from *R) { *of(r) = Union(*of(r), *of(from)) },
		overwrite: func(r, from *R) { *of(r) = *of(from) },
		filled:    func(r *R) bool { return len(*of(r)) > 0 },
		note: func(c change.Set, old, new *R) {
			if !slices.Equal(*of(old), *of(new)) {
				c[name] = change.Change{Old: *of(old), New: *of(new)}
			}
		},
	}
}

// Values is a map of values by key, JSON each. Filling and overwriting go key by key: a key that only one of the two
// records has stays, and a nil in the other record clears the key on overwriting. Changes are noted under name.key.
func Values[R any](name string, of func(*R) *map[string]any) Field[R] {
	return Field[R]{
		Name: name,
		fill: func(r, from *R) {
			out := withoutNil(*of(from))
			maps.Copy(out, *of(r))
			*of(r) = out
		},
		overwrite: func(r, from *R) {
			out := maps.Clone(*of(r))
			if out == nil {
				out = map[string]any{}
			}
			maps.Copy(out, *of(from))
			*of(r) = withoutNil(out)
		},
		filled: func(r *R) bool { return len(*of(r)) > 0 },
		note: func(c change.Set, old, new *R) {
			for k, v := range *of(new) {
				c.Note(name+"."+k, (*of(old))[k], v)
			}
			for k, v := range *of(old) {
				if _, still := (*of(new))[k]; !still {
					c.Note(name+"."+k, v, nil)
				}
			}
		},
	}
}

// Managed is a text that only the service sets: its changes are noted, and no other record fills or overwrites it.
func Managed[R any](name string, of func(*R) *string) Field[R] {
	f := Text(name, of)
	f.fill, f.overwrite = nil, nil
	return f
}

// Managed reports whether only the service sets the field.
func (f Field[R]) Managed() bool { return f.fill == nil }

// Fill is r with its empty fields taken from from.
func (fs Fields[R]) Fill(r, from R) R {
	for _, f := range fs {
		if !f.Managed() {
			f.fill(&r, &from)
		}
	}
	return r
}

// Overwrite is r with the given fields taken from from, empty ones too.
func (fs Fields[R]) Overwrite(r, from R, given Names) R {
	for _, f := range fs {
		if !f.Managed() && given[f.Name] {
			f.overwrite(&r, &from)
		}
	}
	return r
}

// Filled names the fields of r that are not empty, but for those that the service manages.
func (fs Fields[R]) Filled(r R) Names {
	names := Names{}
	for _, f := range fs {
		if !f.Managed() && f.filled(&r) {
			names[f.Name] = true
		}
	}
	return names
}

// Diff is what changes when new takes the place of old.
func (fs Fields[R]) Diff(old, new R) change.Set {
	c := change.Set{}
	for _, f := range fs {
		f.note(c, &old, &new)
	}
	return c
}

// Lost is what from has and r does not, by field: the values that are gone once r stands for both. Fields that the
// service manages are left out.
func (fs Fields[R]) Lost(r, from R) map[string]any {
	lost := map[string]any{}
	diff := change.Set{}
	for _, f := range fs {
		if !f.Managed() {
			f.note(diff, &r, &from)
		}
	}
	for name, c := range diff {
		switch v := c.New.(type) {
		case nil:
		case string:
			if v != "" {
				lost[name] = v
			}
		case []string:
			has, _ := c.Old.([]string)
			if v = slices.DeleteFunc(slices.Clone(v), func(w string) bool { return slices.Contains(has, w) }); len(v) > 0 {
				lost[name] = v
			}
		default:
			lost[name] = v
		}
	}
	return lost
}

// Names is a set of names of fields.
type Names map[string]bool

// Union is all words of both lists, each once, in the order in which they first stand there.
func Union(one, other []string) []string {
	out := make([]string, 0, len(one)+len(other))
	for _, list := range [][]string{one, other} {
		for _, w := range list {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// withoutNil is a copy of values without the keys that are nil.
func withoutNil(values map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for k, v := range values {
		if v != nil {
			out[k] = v
		}
	}
	return out
}
