// Package page keeps the site's own pages: people write them, other services put widgets into them, and they are published on
// settings.page.
//
// Reads: document.
package page
