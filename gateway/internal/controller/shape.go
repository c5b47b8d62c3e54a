package controller

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// shape is a path pattern as Go's ServeMux reads it, without the names of its wildcards: each segment is a text or a wildcard,
// and a rest of any length may follow.
type shape struct {
	segments []string
	// rest: the pattern ended in "/" or "{name...}".
	rest bool
}

// anySegment stands for a wildcard; no literal segment can hold a slash.
const anySegment = "/"

var wildcard = regexp.MustCompile(`^\{[A-Za-z_][A-Za-z0-9_]*(?:\.\.\.)?\}$`)
var literalSegment = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,;=:@%-]+$`)

// parseShape reads patterns such as "/contacts/{id}", "/f/", "/files/{path...}" and "/{$}". The error says which segment cannot
// be routed.
func parseShape(pattern string) (shape, error) {
	var s shape
	path, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return s, fmt.Errorf("path %q does not start with a slash", pattern)
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case last && part == "":
			s.rest = true
		case last && part == "{$}":
			s.segments = append(s.segments, "")
		case last && wildcard.MatchString(part) && strings.HasSuffix(part, "...}"):
			s.rest = true
		case wildcard.MatchString(part) && !strings.HasSuffix(part, "...}"):
			s.segments = append(s.segments, anySegment)
		case literalSegment.MatchString(part):
			s.segments = append(s.segments, part)
		default:
			return s, fmt.Errorf("path %q has a segment %q that cannot be routed", pattern, part)
		}
	}
	return s, nil
}

// key is equal for equal shapes.
func (s shape) key() string {
	k := strings.Join(s.segments, "\x00")
	if s.rest {
		k += "\x00*"
	}
	return k
}

// regexp is the expression of the paths that the shape matches, without anchors.
func (s shape) regexp() string {
	var b strings.Builder
	for _, seg := range s.segments {
		b.WriteByte('/')
		if seg == anySegment {
			b.WriteString("[^/]+")
		} else {
			b.WriteString(regexp.QuoteMeta(seg))
		}
	}
	if s.rest {
		b.WriteString("(?:/.*)?")
	}
	return b.String()
}

// overlaps reports whether a path can match both shapes.
func (s shape) overlaps(o shape) bool {
	for i := 0; ; i++ {
		sEnd, oEnd := i == len(s.segments), i == len(o.segments)
		switch {
		case sEnd && oEnd:
			return true
		case sEnd:
			return s.rest
		case oEnd:
			return o.rest
		}
		a, b := s.segments[i], o.segments[i]
		if a != b && a != anySegment && b != anySegment {
			return false
		}
	}
}

// compare orders shapes from general to specific, by their first segment that differs: rest, any one
// segment, text. A shape stands behind every shape that matches all of its paths.
func (s shape) compare(o shape) int {
	for i := 0; ; i++ {
		a, b := s.rank(i), o.rank(i)
		if a != b {
			return a - b
		}
		if i >= len(s.segments) {
			return 0
		}
		if a == rankText && s.segments[i] != o.segments[i] {
			return cmp.Compare(s.segments[i], o.segments[i])
		}
	}
}

const (
	rankRest = iota
	rankAny
	rankText
	rankEnd
)

func (s shape) rank(i int) int {
	switch {
	case i < len(s.segments) && s.segments[i] == anySegment:
		return rankAny
	case i < len(s.segments):
		return rankText
	case s.rest:
		return rankRest
	default:
		return rankEnd
	}
}
