package app

import (
	"context"
	"net/http"

	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Parts are what a service is made of.
type Parts struct {
	Ops *op.Set
	// Follows are the topics that it consumes.
	Follows []bus.Follow
	Jobs    []Job
	// Workers do work as long as there is any.
	Workers []Worker
	// Tables are copies of topics in memory. The service is ready once they are.
	Tables []Table
	// Run are long-running parts beside these; each returns when its context ends.
	Run []func(ctx context.Context)
	// Ready are further conditions of readiness, by what they wait for: nil once the condition holds, else the reason.
	Ready map[string]func() error
	// Gauges are figures of the service's own tables, for its metrics.
	Gauges []Gauge
	// Pages serve what stands outside /v1, under the patterns PagePaths.
	Pages     http.Handler
	PagePaths []*proto.Page
	// App that the service is, when it can be switched.
	App *proto.App
	// Admin is served on the admin port under /admin/.
	Admin http.Handler
	// Personal says what the service's own tables hold about people. A process cannot start without it.
	Personal Personal
	// Published declares the records of the service's own topics. A process cannot start without one for each compacted topic.
	Published []Published
	// Sealed are the columns that rotate-key seals anew.
	Sealed []Sealed
	// Restored is called by resync, when the schema went back to a backup. It cancels what the service may have done already and
	// would do again, with tx.History set, and returns what it did, a line each. nil for a service that does nothing of its own.
	Restored func(ctx context.Context) ([]string, error)
}

// Table is a copy of a topic, a bus.Table for instance.
type Table interface {
	Topic() string
	Run(ctx context.Context)
	Ready() bool
	// Err is why the topic could not be read last; nil while it is read.
	Err() error
}
