// Package widget shows the booking widget, on pages of the site, of which it keeps copies, and on booking's own (package web).
package widget
