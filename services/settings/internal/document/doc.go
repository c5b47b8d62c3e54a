// Package document keeps the documents of the site's settings, one row of the table document each: what a document says belongs to the
// room that publishes it.
package document
