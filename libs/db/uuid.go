package db

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// bareUUIDs makes pgx take a uuid.UUID, and what a pointer points at, for the bytes that it is. By itself it goes by way of text, which
// costs more than the rest of a small statement.
func bareUUIDs(m *pgtype.Map) {
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{func(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
		switch value.(type) {
		case uuid.UUID, *uuid.UUID:
			return &encodeUUID{}, [16]byte{}, true
		}
		return nil, nil, false
	}}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{func(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
		id, ok := target.(*uuid.UUID)
		return &scanUUID{}, (*[16]byte)(id), ok
	}}, m.TryWrapScanPlanFuncs...)
}

type encodeUUID struct{ next pgtype.EncodePlan }

func (e *encodeUUID) SetNext(next pgtype.EncodePlan) { e.next = next }

func (e *encodeUUID) Encode(value any, buf []byte) ([]byte, error) {
	if id, ok := value.(*uuid.UUID); ok {
		return e.next.Encode([16]byte(*id), buf)
	}
	return e.next.Encode([16]byte(value.(uuid.UUID)), buf)
}

type scanUUID struct{ next pgtype.ScanPlan }

func (s *scanUUID) SetNext(next pgtype.ScanPlan) { s.next = next }

func (s *scanUUID) Scan(src []byte, target any) error {
	return s.next.Scan(src, (*[16]byte)(target.(*uuid.UUID)))
}
