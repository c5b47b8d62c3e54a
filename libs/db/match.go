package db

import (
	"context"
	"slices"

	"frontdesk/libs/fault"
)

type expectedKey struct{}

// Expect lets transactions under ctx change the record that they are about in one of these versions only, see Tx.Match.
func Expect(ctx context.Context, versions []int64) context.Context {
	return context.WithValue(ctx, expectedKey{}, versions)
}

// Match fails with 412 svc_version_mismatch if the caller has seen another version of the record than the present one. Call it when
// the record's row is locked, so that nobody changes it between.
func (tx *Tx) Match(present int64) error {
	tx.compared = true
	if len(tx.expects) > 0 && !slices.Contains(tx.expects, present) {
		return fault.VersionMismatch(present)
	}
	return nil
}

// Compared reports whether Match was called, or the caller expects no version.
func (tx *Tx) Compared() bool { return tx.compared || len(tx.expects) == 0 }

func expectedIn(ctx context.Context) []int64 {
	versions, _ := ctx.Value(expectedKey{}).([]int64)
	return versions
}
