package portal

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// The sources of the scripts that the page names.
const (
	program = "src/app/main.tsx"
	early   = "src/app/early.ts"
)

// build names the files that the page loads, below /_ui/portal/.
type build struct {
	chunks map[string]chunk // by source
	// screens finds the screen of a path below the portal; its patterns are the keys of sources.
	screens *http.ServeMux
	sources map[string]screen
}

// chunk is a file of the build's manifest.
type chunk struct {
	File    string
	Imports []string
	CSS     []string
}

// screen has its program in one file, and its texts in a file per language of each folder.
type screen struct {
	Screen string
	Texts  []string // folders
	// App has to be on, May to be granted, and Sees to be the person's visibility, for the screen to be shown. Empty asks for nothing.
	App, May, Sees string
	// Calls are the addresses that the screen reads first, below the API's path, with the parameters of the screen's path in them.
	Calls []string
	// Titles are the heading by language, with {name} for the person's; empty where only the record has it.
	Titles map[string]string
}

// files are what a page loads at once.
type files struct {
	// Script is the program. Early runs before it is there.
	Script, Early string
	// Modules are those that Script and the page's screen need.
	Modules, Styles []string
	// Screen is the zero screen at an address without one. Calls are its Calls with the values of the address.
	Screen screen
	Calls  []string
}

// found reports whether the address has a screen.
func (f files) found() bool { return f.Screen.Screen != "" }

// readBuild reads the manifest that the build writes, and which screen has which file. It returns nil without a build.
func readBuild(folder fs.FS) *build {
	b := &build{screens: http.NewServeMux(), sources: map[string]screen{}}
	var paths map[string]screen
	for name, into := range map[string]any{"dist/manifest.json": &b.chunks, "dist/screens.json": &paths} {
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil
		}
		if err := json.Unmarshal(raw, into); err != nil {
			panic(err) // compiled in
		}
	}
	for path, s := range paths {
		pattern := parameter.ReplaceAllString(path, "{$1}")
		if path == "/" {
			pattern = "/{$}"
		}
		b.screens.Handle(pattern, http.NotFoundHandler())
		b.sources[pattern] = s
	}
	return b
}

var (
	parameter = regexp.MustCompile(`\$(\w+)`)
	id        = regexp.MustCompile(`^([0-9]+|[0-9a-f-]{36})$`)
)

// files returns what the page at a path below the portal loads, with the texts of a language.
func (b *build) files(path, language string) files {
	f := files{Script: b.chunks[program].File, Early: b.chunks[early].File}
	sources := []string{program, "src/kit/text/" + language + ".json"}
	path = "/" + strings.Trim(path, "/")
	if _, pattern := b.screens.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}}); pattern != "" {
		f.Screen = b.sources[pattern]
		sources = append(sources, f.Screen.Screen)
		for _, folder := range f.Screen.Texts {
			sources = append(sources, folder+language+".json")
		}
		f.Calls = calls(f.Screen.Calls, pattern, path)
	}
	seen := map[string]bool{}
	var add func(source string)
	add = func(source string) {
		c, ok := b.chunks[source]
		if !ok || seen[source] {
			return
		}
		seen[source] = true
		for _, name := range c.Imports {
			add(name)
		}
		if source != program {
			f.Modules = append(f.Modules, c.File)
		}
		f.Styles = append(f.Styles, c.CSS...)
	}
	for _, source := range sources {
		add(source)
	}
	return f
}

// calls puts the values that a path has at the parameters of its pattern into addresses. A value that is no id, such as that of
// a new record, leaves none.
func calls(addresses []string, pattern, path string) []string {
	at := strings.Split(path, "/")
	var values []string
	for i, part := range strings.Split(pattern, "/") {
		if strings.HasPrefix(part, "{") && part != "{$}" {
			if !id.MatchString(at[i]) {
				return nil
			}
			values = append(values, "$"+strings.Trim(part, "{}"), at[i])
		}
	}
	fill := strings.NewReplacer(values...)
	var filled []string
	for _, a := range addresses {
		filled = append(filled, fill.Replace(a))
	}
	return filled
}
