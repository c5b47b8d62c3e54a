package web

// Room is a style for somebody else's page, which keeps the room of a widget until its script has drawn it. Our own pages have it in page.css.
func Room(element string) string {
	height := map[string]string{"svc-booking": "30rem", "svc-form": "24rem"}[element]
	return `<style>@media (scripting: enabled) { ` + element + `:not(:defined) { display: block; min-height: ` + height + ` } }</style>`
}
