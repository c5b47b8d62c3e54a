// Package live runs what deploy/observe makes: Prometheus with its rules beside a whole system under load, which faults are done to, one
// for each alert. make observe runs it; it takes some minutes and Debian's package prometheus, so it is no part of make test.
package live
