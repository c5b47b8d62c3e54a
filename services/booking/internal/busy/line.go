package busy

import (
	"bytes"
	"strings"
)

// line is a content line: NAME;PARAM=value:value, unfolded. n is the number of its first line in the file.
type line struct {
	n      int
	name   string
	params map[string]string // by name, without quotes; of several of one name the last
	value  string
}

// lines reads content lines from a file. What belongs to events and zones is read whole; a line without a colon has the name alone.
type lines struct {
	file []byte
	n    int // of the lines behind
}

// next returns the next line that is not empty; false behind the last.
func (l *lines) next() (line, bool) {
	for len(l.file) > 0 {
		n := l.n + 1
		text := l.cut()
		for len(l.file) > 0 && (l.file[0] == ' ' || l.file[0] == '\t') {
			// A copy only where a line is folded.
			text = append(text[:len(text):len(text)], l.cut()[1:]...)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			return parse(n, string(text)), true
		}
	}
	return line{}, false
}

func (l *lines) cut() []byte {
	l.n++
	text, rest, _ := bytes.Cut(l.file, []byte("\n"))
	l.file = rest
	return bytes.TrimSuffix(text, []byte("\r"))
}

func parse(n int, text string) line {
	out := line{n: n}
	end := strings.IndexAny(text, ";:")
	if end < 0 {
		out.name = strings.ToUpper(strings.TrimSpace(text))
		return out
	}
	out.name = strings.ToUpper(strings.TrimSpace(text[:end]))
	for text = text[end:]; strings.HasPrefix(text, ";"); {
		quoted := false
		end = strings.IndexFunc(text[1:], func(r rune) bool {
			if r == '"' {
				quoted = !quoted
			}
			return !quoted && (r == ';' || r == ':')
		}) + 1
		if end == 0 {
			return out // no value
		}
		name, value, _ := strings.Cut(text[1:end], "=")
		if out.params == nil {
			out.params = map[string]string{}
		}
		out.params[strings.ToUpper(name)] = strings.ReplaceAll(value, `"`, "")
		text = text[end:]
	}
	out.value = strings.TrimPrefix(text, ":")
	return out
}
