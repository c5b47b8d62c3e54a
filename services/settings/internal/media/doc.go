// Package media keeps the site's own pictures, such as its logo: it encodes them anew, stores them and shows them to everybody.
package media
