// Package web shows booking to visitors: the stand-alone booking page, the page behind the link of a mail, and what the
// widget <svc-booking> asks for. It acts through the public operations only, so their rules are its rules.
package web
