package proto

import "embed"

// Samples are events as their producers' tests have written them, at samples/<topic>/<kind>.json.
//
//go:embed samples
var Samples embed.FS
