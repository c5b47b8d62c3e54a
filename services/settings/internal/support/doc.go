// Package support keeps the guide for a new site and what a person has agreed to send to the makers of the product, and mails requests
// for support to the business.
//
// Reads: mail, page.
package support
