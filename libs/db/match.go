package db

import (
	"context"
	"slices"

	"frontdesk/libs/fault"
)

type expectedKey struct{}

// expected are the versions of which the caller has seen one; of the weak ones, which count for nothing, it is told.
type expected struct{ versions, weak []int64 }

// Expect lets transactions under ctx change the record that they are about in one of these versions only, see Tx.Match.
func Expect(ctx context.Context, versions, weak []int64) context.Context {
	return context.WithValue(ctx, expectedKey{}, expected{versions, weak})
}

// Match fails with 412 svc_version_mismatch if the caller has seen another version of the record than the present one, or says by a weak tag that
// it has seen the present one. Call it when the record's row is locked, so that nobody changes it between.
func (tx *Tx) Match(present int64) error {
	tx.compared, tx.present = true, present
	switch {
	case len(tx.expects.versions) == 0, slices.Contains(tx.expects.versions, present):
		return nil
	case slices.Contains(tx.expects.weak, present):
		return fault.WeakTag(present)
	}
	return fault.VersionMismatch(present)
}

// Compared reports whether Match was called, or the caller expects no version.
func (tx *Tx) Compared() bool { return tx.compared || len(tx.expects.versions) == 0 }
