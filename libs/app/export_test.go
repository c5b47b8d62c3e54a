package app

import "time"

func init() { seenEvery = 200 * time.Millisecond }
