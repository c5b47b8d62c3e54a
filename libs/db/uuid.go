package db

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// bareUUIDs makes pgx take a uuid.UUID for the bytes that it is. By itself it goes by way of text, which
// costs more than the rest of a small statement.
func bareUUIDs(m *pgtype.Map) {
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{func(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
		id, ok := value.(uuid.UUID)
		return &encodeUUID{}, [16]byte(id), ok
	}}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{func(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
		id, ok := target.(*uuid.UUID)
		return &scanUUID{}, (*[16]byte)(id), ok
	}}, m.TryWrapScanPlanFuncs...)
}

type encodeUUID struct{ next pgtype.EncodePlan }

func (e *encodeUUID) SetNext(next pgtype.EncodePlan) { e.next = next }

func (e *encodeUUID) Encode(value any, buf []byte) ([]byte, error) {
	return e.next.Encode([16]byte(value.(uuid.UUID)), buf)
}

type scanUUID struct{ next pgtype.ScanPlan }

func (s *scanUUID) SetNext(next pgtype.ScanPlan) { s.next = next }

func (s *scanUUID) Scan(src []byte, target any) error {
	return s.next.Scan(src, (*[16]byte)(target.(*uuid.UUID)))
}
