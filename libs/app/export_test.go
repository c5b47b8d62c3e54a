package app

import "time"

func init() { seenEvery = 200 * time.Millisecond }

// Commands of a service's program.
var (
	Migrate   = migrateSchema
	RotateKey = rotateKey
)
