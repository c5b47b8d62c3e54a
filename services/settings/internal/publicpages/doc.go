// Package publicpages serves the site's own pages, with the widgets that their shortcodes name, and what programs are told about the site.
package publicpages
