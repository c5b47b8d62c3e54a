package mail

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed page.html
var pageSource string

// page is the mail as HTML. It loads nothing but the logo.
var page = template.Must(template.New("mail").Funcs(template.FuncMap{
	"lines": func(s string) []string { return strings.Split(s, "\n") },
}).Parse(pageSource))
