package proto

import "time"

// A body of a request: an import of 32 MiB has to fit through a slow line. Traefik and the services hold to the same.
const (
	// BodyWithin is how long a request may take to arrive whole.
	BodyWithin = 2 * time.Minute
	// MostBody is how many bytes the gateway lets through. The services enforce the exact limits of 1 MiB, and 32 MiB for imports.
	MostBody = 35_000_000
)
