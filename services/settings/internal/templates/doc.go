// Package templates keeps the words that the business gives the mails to clients and visitors: a document for each kind of mail, with a
// template for each language that does not have the standard one. Services that write these mails read them on settings.site.
//
// It uses site: what heads the mail that a preview shows.
package templates
