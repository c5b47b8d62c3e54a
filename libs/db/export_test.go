package db

// What the tests outside of the package compare with.
type WrongAssumption = wrongAssumption

const PoolSize = poolSize

var BareUUIDs = bareUUIDs

var ErrLeaseLost = errLeaseLost
