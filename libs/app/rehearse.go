package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

const (
	// rehearsedWithin is how long the other services have for their parts of a rehearsal, all together.
	rehearsedWithin = time.Second
	// mostRehearsed is how many bytes of messages a service is asked about: they travel in one.
	mostRehearsed = 900_000
	// rehearsedAtOnce is how many rehearsals for others a replica does at the same time. Each holds a connection, and locks until it is rolled back.
	rehearsedAtOnce = 2
)

// rehearsals ask the other services for their parts of a rehearsal, and answer what they ask. Questions and answers are messages on svc.rehearsal that
// every replica of the service named by their key reads at the end of the topic. No position, group or row stands behind them: what is late, or was missed,
// is lost, and the part of that service is left out.
type rehearsals struct {
	service string
	bus     *bus.Bus
	// rehearse returns the effects of messages that another service would publish.
	rehearse func(ctx context.Context, id string, messages []db.Message) (op.Effects, error)
	turns    chan struct{}

	hears atomic.Bool // whether an answer would be heard
	mu    sync.Mutex
	asked map[asked]chan<- *proto.Rehearsed
}

// asked is a question to a service.
type asked struct{ id, service string }

func newRehearsals(k *Kit, rehearse func(context.Context, string, []db.Message) (op.Effects, error)) *rehearsals {
	return &rehearsals{service: k.Service, bus: k.Bus, rehearse: rehearse, turns: make(chan struct{}, rehearsedAtOnce), asked: map[asked]chan<- *proto.Rehearsed{}}
}

// run hears questions and answers until ctx ends.
func (r *rehearsals) run(ctx context.Context) {
	var answering sync.WaitGroup
	defer answering.Wait()
	r.bus.Tail(ctx, []string{proto.RehearsalTopic}, func() { r.hears.Store(true) }, func(e bus.Event) {
		if e.Key != r.service {
			return
		}
		by, said, err := r.open(e)
		if err != nil {
			slog.WarnContext(ctx, "rehearsal refused", "kind", e.Kind, "error", err)
			return
		}
		switch e.Kind {
		case proto.KindRehearse:
			answering.Go(func() { r.answer(ctx, by, said) })
		case proto.KindRehearsed:
			r.heard(by, said)
		}
	})
}

// heard gives an answer to whoever waits for it. A late one, and the second of two replicas, are dropped.
func (r *rehearsals) heard(by string, said []byte) {
	var m proto.Rehearsed
	if protobuf.Unmarshal(said, &m) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.asked[asked{m.GetId(), by}] <- &m:
	default:
	}
}

// answer rehearses what another service asks about, unless that service may not send it.
func (r *rehearsals) answer(ctx context.Context, by string, said []byte) {
	var m proto.Rehearse
	if protobuf.Unmarshal(said, &m) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(rehearsedWithin, time.Duration(m.GetWithinMs())*time.Millisecond))
	defer cancel()
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return
	}
	answer := &proto.Rehearsed{Id: m.GetId()}
	effects, err := r.part(ctx, by, &m)
	if err == nil {
		answer.Effects, err = json.Marshal(effects)
	}
	if len(answer.GetEffects()) > mostRehearsed {
		answer.Effects, err = nil, errors.New("its effects fit into no message")
	}
	if errors.Is(err, bus.ErrElsewhere) {
		return
	}
	if err != nil {
		slog.WarnContext(ctx, "a part of a rehearsal failed", "for", by, "error", err)
	}
	if err := r.say(ctx, by, proto.KindRehearsed, answer); err != nil {
		slog.InfoContext(ctx, "a rehearsal was not answered", "for", by, "error", err)
	}
}

func (r *rehearsals) part(ctx context.Context, by string, m *proto.Rehearse) (op.Effects, error) {
	messages := make([]db.Message, len(m.GetMessages()))
	for i, x := range m.GetMessages() {
		t := proto.TopicNamed(x.GetTopic())
		if !slices.Contains(t.Rehearse, r.service) || t.Owner != by && !slices.Contains(t.Writers, by) {
			return op.Effects{}, fmt.Errorf("%s does not send %s messages on %q", by, r.service, x.GetTopic())
		}
		messages[i] = db.Message{Topic: x.GetTopic(), Key: x.GetKey()}
		if len(x.GetValue()) > 0 {
			messages[i].Value = x.GetValue()
		}
	}
	return r.rehearse(ctx, m.GetId(), messages)
}

// ask returns what the other services would do because of messages, by service; nil for one that does not say so in time. It returns within
// rehearsedWithin, and while ctx still has a quarter of its time: who asks because of its own part has to say that in time, whoever does not answer.
func (r *rehearsals) ask(ctx context.Context, messages []db.Message) map[string]*op.Effects {
	within := rehearsedWithin
	if deadline, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(deadline)*3/4)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	id := db.NewID().String()
	parts, questions, size := map[string]*op.Effects{}, map[string]*proto.Rehearse{}, map[string]int{}
	for _, m := range messages {
		topic, env := proto.TopicNamed(m.Topic), &proto.Envelope{}
		if len(topic.Unrehearsed) > 0 && protobuf.Unmarshal(m.Value, env) != nil {
			continue
		}
		for _, service := range topic.Rehearse {
			if service == r.service || !topic.Rehearses(service, env.GetKind()) {
				continue
			}
			if questions[service] == nil {
				parts[service], questions[service] = nil, &proto.Rehearse{Id: id, WithinMs: uint32(max(0, within.Milliseconds()))}
			}
			size[service] += len(m.Key) + len(m.Value)
			questions[service].Messages = append(questions[service].Messages, &proto.RehearsedMessage{Topic: m.Topic, Key: m.Key, Value: m.Value})
		}
	}
	if !r.hears.Load() {
		return parts
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	for service, question := range questions {
		if size[service] > mostRehearsed {
			continue
		}
		asking.Go(func() {
			part, err := r.askOne(ctx, service, question)
			if err != nil {
				slog.InfoContext(ctx, "a part of a rehearsal is missing", "of", service, "error", err)
			}
			mu.Lock()
			defer mu.Unlock()
			parts[service] = part
		})
	}
	asking.Wait()
	return parts
}

func (r *rehearsals) askOne(ctx context.Context, service string, question *proto.Rehearse) (*op.Effects, error) {
	answers, key := make(chan *proto.Rehearsed, 1), asked{question.GetId(), service}
	r.mu.Lock()
	r.asked[key] = answers
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.asked, key)
	}()
	if err := r.say(ctx, service, proto.KindRehearse, question); err != nil {
		return nil, err
	}
	select {
	case answer := <-answers:
		if len(answer.GetEffects()) == 0 {
			return nil, errors.New("it cannot be rehearsed there")
		}
		part := &op.Effects{}
		return part, json.Unmarshal(answer.GetEffects(), part)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// say signs a message, seals it to a service and sends it there.
func (r *rehearsals) say(ctx context.Context, to, kind string, m protobuf.Message) error {
	said, err := protobuf.Marshal(m)
	if err != nil {
		return err
	}
	signed := &proto.SignedRehearsal{By: r.service, Said: said}
	if signed.Signature, err = r.bus.Trust.Sign(trust.Message{Topic: proto.RehearsalTopic, Key: to + " " + kind, Value: said, Stamp: time.Now().UnixMicro()}); err != nil {
		return err
	}
	data, err := protobuf.Marshal(signed)
	if err != nil {
		return err
	}
	if data, err = r.bus.Trust.Seal(to, proto.RehearsalTopic, to, data); err != nil {
		return err
	}
	return sendMessage(ctx, r.bus, proto.RehearsalTopic, to, &proto.Envelope{Id: db.NewID().String(), Kind: kind, RecordId: to, OccurredAt: timestamppb.Now(),
		Actor: &proto.Actor{Channel: db.ChannelSystem}, Traceparent: db.Traceparent(ctx), Data: data})
}

// open returns what a service has said to this one.
func (r *rehearsals) open(e bus.Event) (by string, said []byte, err error) {
	data, err := r.bus.Trust.Open(proto.RehearsalTopic, e.Key, e.Data)
	if err != nil {
		return "", nil, err
	}
	var m proto.SignedRehearsal
	if err := protobuf.Unmarshal(data, &m); err != nil {
		return "", nil, err
	}
	_, err = r.bus.Trust.Verify(m.GetBy(), trust.Message{Topic: proto.RehearsalTopic, Key: e.Key + " " + e.Kind, Value: m.GetSaid()}, m.GetSignature())
	return m.GetBy(), m.GetSaid(), err
}

// rehearse returns the effects that messages of another service would have here, with the mails to the team that follow from them. What else other services
// would do by them is not asked: an answer could lead back to who has asked.
func (r *runner) rehearse(ctx context.Context, id string, messages []db.Message) (op.Effects, error) {
	published, err := r.consumer.Rehearse(ctx, id, messages)
	if err != nil {
		return op.Effects{}, err
	}
	effects, err := op.PartOf(published, slices.Collect(maps.Values(r.kit.Endpoints.All())))
	if err != nil {
		return op.Effects{}, err
	}
	notices := slices.DeleteFunc(published, func(m db.Message) bool { return m.Topic != proto.MailTopic })
	if len(notices) > 0 && !r.kit.Config.Alone {
		effects.AddParts(r.kit.Service, notices, r.kit.rehearsals.ask(ctx, notices))
	}
	return effects, nil
}
