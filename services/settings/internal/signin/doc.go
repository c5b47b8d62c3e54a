// Package signin lets a person in: by password and second factor, or by passkey. It shows the caller who they are.
package signin
