// Package chaos holds tests that do a fault to a whole running system under load and compare what is left with the owners' tables:
// every acknowledged change is there, every effect is there once, every copy equals its owner. See README.md.
package chaos
