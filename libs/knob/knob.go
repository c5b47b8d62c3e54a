// Package knob reads secrets of the environment, which may stand in files, and lists the knobs of a struct.
package knob

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Secret returns the value of a variable, or what the file holds that the variable with _FILE behind its name names, without the end of
// the line. The error is for a person and names the variable.
func Secret(getenv func(string) string, name string) (string, error) {
	value, file := getenv(name), getenv(name+"_FILE")
	switch {
	case file == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s is set, and %[1]s_FILE too: use one of them", name)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s_FILE cannot be read: %w", name, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// WithSecrets returns variables with the values of those that are secrets, from wherever they stand. The error has a line for each that is
// wrong.
func WithSecrets(variables map[string]string, secrets ...string) (map[string]string, error) {
	out := maps.Clone(variables)
	var wrong []error
	for _, name := range secrets {
		value, err := Secret(func(name string) string { return variables[name] }, name)
		if err != nil {
			wrong = append(wrong, err)
		}
		out[name] = value
	}
	return out, errors.Join(wrong...)
}

// Read fills a struct from an environment by the tags env, envDefault and takes (see Check) of its fields; more are kinds of the program.
// A secret may stand in a file, see Secret; a field with the tag required:"true" must not be empty. The error has a line for each
// variable that is wrong, and its field has its default then, so that the caller can check more and tell all faults at once.
func Read[T any](variables map[string]string, more Kinds) (into T, err error) {
	values := maps.Clone(variables)
	var wrong []error
	for f := range fields[T]() {
		name := f.Tag.Get("env")
		err := error(nil)
		if f.Tag.Get("secret") == "true" {
			values[name], err = Secret(func(name string) string { return variables[name] }, name)
		}
		switch {
		case err != nil:
		case values[name] == "" && f.Tag.Get("required") == "true":
			err = fmt.Errorf("%s is required", name)
		default:
			if fault := Check(f.Tag.Get("takes"), values[name], more); fault != nil {
				err = fmt.Errorf("%s %w", name, fault)
			}
		}
		if err != nil {
			wrong = append(wrong, err)
			delete(values, name)
		}
	}
	if err := env.ParseWithOptions(&into, env.Options{Environment: values}); err != nil {
		wrong = append(wrong, err) // a field whose kind does not belong to its type
	}
	return into, errors.Join(wrong...)
}

// Print lists the variables of a struct's fields, a line each, with their help and defaults.
func Print[T any](w io.Writer) {
	for f := range fields[T]() {
		name := f.Tag.Get("env")
		fmt.Fprintf(w, "  %-28s %s", name, f.Tag.Get("help"))
		if d := f.Tag.Get("envDefault"); d != "" {
			fmt.Fprintf(w, " (default %s)", d)
		}
		if f.Tag.Get("secret") == "true" {
			fmt.Fprintf(w, " (or %s_FILE)", name)
		}
		fmt.Fprintln(w)
	}
}

// fields are those of a struct that a variable fills.
func fields[T any]() iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for f := range reflect.TypeFor[T]().Fields() {
			if name := f.Tag.Get("env"); name != "" && name != "-" && !yield(f) {
				return
			}
		}
	}
}
