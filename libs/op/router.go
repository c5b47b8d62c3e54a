package op

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/libs/fault"
)

// router finds the operations of a path, by its number of segments. The path is chosen first, the method after it: so
// PATCH /contacts/sources is 405 and not the operation of PATCH /contacts/{id}. http.ServeMux would mix the two, and
// refuses paths of which neither is more specific.
type router map[int][]*place

// place is one path and what answers there.
type place struct {
	segments []string
	methods  map[string]switched
}

// switched is a handler that answers 404 itself while on reports false.
type switched struct {
	http.Handler
	on func() bool
}

func (t router) add(method, path string, on func() bool, h http.Handler) {
	segments := strings.Split(path, "/")
	places := t[len(segments)]
	i, there := slices.BinarySearchFunc(places, segments, func(p *place, segments []string) int {
		return slices.CompareFunc(p.segments, segments, specificFirst)
	})
	if !there {
		places = slices.Insert(places, i, &place{segments: segments, methods: map[string]switched{}})
		t[len(segments)] = places
	}
	if !slices.Equal(places[i].segments, segments) {
		panic("op: " + path + " has other names for the parameters of " + strings.Join(places[i].segments, "/"))
	}
	places[i].methods[method] = switched{h, on}
}

// specificFirst sorts fixed segments before parameters.
func specificFirst(a, b string) int {
	switch {
	case isParameter(a) && isParameter(b):
		return 0
	case isParameter(a):
		return 1
	case isParameter(b):
		return -1
	}
	return strings.Compare(a, b)
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

func (t router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/v1")
	if !ok {
		WriteFault(r.Context(), fault.NoRoute(), w)
		return
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i], _ = url.PathUnescape(s)
	}
	for _, p := range t[len(segments)] {
		if p.takes(segments) {
			p.serve(w, r, segments)
			return
		}
	}
	WriteFault(r.Context(), fault.NoRoute(), w)
}

// takes reports whether a path of segments is this one. An empty segment and the segments . and .. cannot be a parameter's value.
func (p *place) takes(segments []string) bool {
	return slices.EqualFunc(p.segments, segments, func(s, given string) bool {
		return s == given || isParameter(s) && given != "" && given != "." && given != ".."
	})
}

func (p *place) serve(w http.ResponseWriter, r *http.Request, segments []string) {
	for i, s := range p.segments {
		if isParameter(s) {
			r.SetPathValue(strings.Trim(s, "{}"), segments[i])
		}
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h, ok := p.methods[method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	var allow []string
	for method, h := range p.methods {
		if h.on() {
			allow = append(allow, method)
		}
	}
	if slices.Contains(allow, http.MethodGet) {
		allow = append(allow, http.MethodHead)
	}
	if allow == nil {
		WriteFault(r.Context(), fault.NoRoute(), w)
		return
	}
	slices.Sort(allow)
	w.Header().Set("Allow", strings.Join(allow, ", "))
	WriteFault(r.Context(), fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed",
		"This path does not answer to "+r.Method+".", "allow", allow), w)
}
