// Package typed checks what people have typed, such as an email address, and gives it the form in which it is stored.
package typed
