// Package signin lets a person in, by password and second factor or by passkey, and recognises the browsers in which they were before.
package signin
