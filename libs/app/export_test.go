package app

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

func init() { seenEvery = 200 * time.Millisecond }

// Rehearsals ask and answer, each as a replica of its own.
type Rehearsals = rehearsals

var NewRehearsals = newRehearsals

func (r *rehearsals) Run(ctx context.Context) { r.run(ctx) }

func (r *rehearsals) Hears() bool { return r.hears.Load() }

func (r *rehearsals) Ask(ctx context.Context, messages []db.Message) map[string]*op.Effects {
	return r.ask(ctx, messages)
}

// Commands of a service's program.
var (
	Migrate   = migrateSchema
	RotateKey = rotateKey
)
