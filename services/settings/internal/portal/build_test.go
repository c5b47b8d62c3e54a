package portal

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestAPageNamesTheFilesOfItsScreenOnce(t *testing.T) {
	b := readBuild(fstest.MapFS{
		"dist/manifest.json": {Data: []byte(`{
			"src/app/main.tsx": {"file": "main.js", "imports": ["_shell.js"]},
			"src/app/early.ts": {"file": "early.js"},
			"_shell.js": {"file": "shell.js", "imports": ["_runtime.js"], "css": ["shell.css"]},
			"_runtime.js": {"file": "runtime.js"},
			"src/kit/text/nl.json": {"file": "kit-nl.js"},
			"src/contacts/text/nl.json": {"file": "contacts-nl.js"},
			"src/booking/text/nl.json": {"file": "booking-nl.js"},
			"src/contacts/contact.tsx": {"file": "contact.js", "imports": ["_shell.js", "_list.js"], "css": ["contact.css"]},
			"src/contacts/new.tsx": {"file": "new.js"},
			"src/contacts/overview.tsx": {"file": "overview.js"},
			"_list.js": {"file": "list.js"}}`)},
		"dist/screens.json": {Data: []byte(`{
			"/": {"screen": "src/contacts/overview.tsx", "texts": ["src/contacts/text/"]},
			"/contacts/$id": {"screen": "src/contacts/contact.tsx", "texts": ["src/contacts/text/"], "calls": ["/contacts/$id", "/contacts/$id/activities?per_page=20"]},
			"/contacts/new": {"screen": "src/contacts/new.tsx", "texts": ["src/contacts/text/", "src/booking/text/"]}}`)},
	})
	shell := []string{"runtime.js", "shell.js", "kit-nl.js"}
	for path, more := range map[string][]string{
		"/contacts/1": {"list.js", "contact.js", "contacts-nl.js"}, "contacts/1/": {"list.js", "contact.js", "contacts-nl.js"},
		"/contacts/new": {"new.js", "contacts-nl.js", "booking-nl.js"}, "": {"overview.js", "contacts-nl.js"}, "/nowhere": {},
	} {
		f := b.files(path, "nl")
		require.Equal(t, "main.js", f.Script)
		require.Equal(t, path != "/nowhere", f.found(), path)
		require.Equal(t, "early.js", f.Early)
		require.Equal(t, append(append([]string{}, shell...), more...), f.Modules, path)
	}
	require.Equal(t, []string{"shell.css", "contact.css"}, b.files("/contacts/1", "nl").Styles)
	require.Equal(t, shell[:2], b.files("/nowhere", "xx").Modules, "a language without texts")
	require.Equal(t, []string{"/contacts/1", "/contacts/1/activities?per_page=20"}, b.files("/contacts/1", "nl").Calls)
	require.Empty(t, b.files("/contacts/other", "nl").Calls, "a value that is no id")
	require.Empty(t, b.files("/contacts/new", "nl").Calls)
	require.Nil(t, readBuild(fstest.MapFS{}))
}

func TestAScreenIsOpenAsTheProgramSays(t *testing.T) {
	hours := screen{App: "booking", May: "svc_manage_bookings", Sees: "all", Titles: map[string]string{"en": "Hours of {name}"}}
	for name, c := range map[string]struct {
		capabilities, apps, visibility, heading string
	}{
		"all is granted":     {`"svc_view_contacts","svc_manage_bookings"`, `{"id":"booking","enabled":true}`, "all", "Hours of Ada"},
		"no app is listed":   {`"svc_view_contacts","svc_manage_bookings"`, ``, "all", "Hours of Ada"},
		"the app is off":     {`"svc_view_contacts","svc_manage_bookings"`, `{"id":"booking","enabled":false}`, "all", ""},
		"another app is off": {`"svc_view_contacts","svc_manage_bookings"`, `{"id":"forms","enabled":false}`, "all", "Hours of Ada"},
		"it is not granted":  {`"svc_view_contacts"`, ``, "all", ""},
		"nothing is seen":    {`"svc_manage_bookings"`, ``, "all", ""},
		"own are seen":       {`"svc_view_contacts","svc_manage_bookings"`, ``, "own", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start{Language: "en", Session: []byte(`{"name":"Ada Lind","visibility":"` + c.visibility + `","capabilities":[` + c.capabilities + `]}`), Apps: []byte(`{"items":[` + c.apps + `]}`)}
			require.Equal(t, c.heading != "", s.open(hours))
			require.Equal(t, c.heading, s.heading(hours))
		})
	}
}
