// Package apps keeps which apps are on, published on settings.apps. It copies what services announce of themselves, and makes the
// description of the whole interface of it.
package apps
