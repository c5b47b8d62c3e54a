package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/protobuf/encoding/protojson"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Event is a change or command as a consumer gets it.
type Event struct {
	// ID is the same each time the event arrives. A tombstone has an id made of its place.
	ID      uuid.UUID
	Topic   string
	Kind    string
	Key     string
	Version int64
	At      time.Time
	// AppOff reports that the producer's app was off when the event happened.
	AppOff  bool
	Actor   db.Actor
	Changed []string
	// Tombstone tells that the record was erased: nothing but Topic and Key is known.
	Tombstone bool
	// State reports that the owner has published the record again as it is: nothing happened.
	State bool
	// History reports that the event is no news for this service: it is State, or the service may have reacted to it before. A
	// handler brings its copies up to date by History, by their versions, and skips every reaction: mails, deliveries,
	// commands to other services.
	History bool
	// Data is the record as JSON, or an encoded command.
	Data  []byte
	Extra json.RawMessage

	traceparent string
}

// traced is ctx within the trace of the change.
func (e Event) traced(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": e.traceparent})
}

// ReplacesBelow is the version below which a copy is older than the event's record. State replaces a copy of its own version
// too: an owner that went back to a backup may count a version for the second time.
func (e Event) ReplacesBelow() int64 {
	if e.State {
		return e.Version + 1
	}
	return e.Version
}

// Decode reads the record or command into v, a protobuf message or a pointer to a struct.
func (e Event) Decode(v any) error {
	if m, ok := v.(protobuf.Message); ok {
		return protobuf.Unmarshal(e.Data, m)
	}
	return json.Unmarshal(e.Data, v)
}

// DecodeExtra reads the event's further facts into m, and leaves out those that m does not have. An event without any
// leaves m empty.
func (e Event) DecodeExtra(m protobuf.Message) error {
	if len(e.Extra) == 0 {
		return nil
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(e.Extra, m); err != nil {
		return fmt.Errorf("bus: extra of %s: %w", e.Kind, err)
	}
	return nil
}

// OpenEnvelope reads the value of a record topic: the envelope, and the record in it into v, a pointer to a struct, unless
// v is nil.
func OpenEnvelope(value []byte, v any) (*proto.Envelope, error) {
	env := &proto.Envelope{}
	if err := protobuf.Unmarshal(value, env); err != nil {
		return nil, fmt.Errorf("bus: not an envelope: %w", err)
	}
	if v == nil {
		return env, nil
	}
	if err := json.Unmarshal(env.GetData(), v); err != nil {
		return nil, fmt.Errorf("bus: record of %s: %w", env.GetKind(), err)
	}
	return env, nil
}

func decode(m kafka.Message) (Event, error) {
	e := Event{Topic: m.Topic, Key: string(m.Key)}
	if m.Value == nil {
		e.Tombstone = true
		// In a log that was made anew another record's may stand at this offset.
		e.ID = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s/%d/%d/%d/%s", m.Topic, m.Partition, m.Offset, m.Time.UnixMilli(), m.Key))
		e.At = m.Time
		e.Actor = db.Actor{Channel: db.ChannelSystem}
		return e, nil
	}
	env, err := OpenEnvelope(m.Value, nil)
	if err != nil {
		return e, err
	}
	id, err := uuid.Parse(env.GetId())
	if err != nil {
		return e, fmt.Errorf("bus: envelope without id: %w", err)
	}
	e.ID, e.Kind, e.Version, e.Changed = id, env.GetKind(), env.GetVersion(), env.GetChanged()
	e.State, e.History = env.GetState(), env.GetState()
	e.At, e.AppOff, e.Data, e.Extra, e.traceparent = env.GetOccurredAt().AsTime(), env.GetAppOff(), env.GetData(), env.GetExtra(), env.GetTraceparent()
	e.Actor = db.Actor{UserID: env.GetActor().GetUserId(), Label: env.GetActor().GetLabel(), Channel: env.GetActor().GetChannel()}
	return e, nil
}

// On handles events of one kind, decoded. Events of other kinds pass.
func On[T any](kind string, handle func(ctx context.Context, tx *db.Tx, e Event, v *T) error) Handler {
	return func(ctx context.Context, tx *db.Tx, e Event) error {
		if e.Kind != kind {
			return nil
		}
		v := new(T)
		if err := e.Decode(v); err != nil {
			return err
		}
		return handle(ctx, tx, e, v)
	}
}
