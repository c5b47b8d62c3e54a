// Package web is what the services' pages and widgets share: page layout and style sheets, the site's form style as CSS,
// texts in four languages, icons, fonts, and the handler that serves a service's built browser code under /_ui/<service>/.
//
// A page is rendered from Go templates and works without script, without cookies and with nothing from other hosts.
package web
