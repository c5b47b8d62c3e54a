// Package keys keeps the application passwords by which integrations call in a user's name, published on settings.identity.
package keys
