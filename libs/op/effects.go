package op

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

// Effects are what a call does beside its answer, as its transaction has queued it: nothing here is kept by a second book.
type Effects struct {
	Changes  []EffectChange         `json:"changes" doc:"The fields that change, as the audit log will hold them."`
	Events   []EffectEvent          `json:"events" doc:"What happens to records, as the other services and webhooks are told."`
	Mails    []EffectMail           `json:"mails" doc:"The mails that go out."`
	Webhooks []EffectWebhook        `json:"webhooks" doc:"The webhooks that get one of the events. Empty for who may not see webhooks."`
	Commands []EffectCommand        `json:"commands" doc:"What other services are asked to do. If rehearsed is true, what they do is among the effects. One that did not say so within a second is named without it."`
	Audit    opt.Value[effectAudit] `json:"audit" doc:"The entry in the audit log; null for what is not recorded there."`
}

// EffectChange is a field that changes.
type EffectChange struct {
	Record effectRecord `json:"record" doc:"The record that it belongs to."`
	Field  string       `json:"field" doc:"The name of the field; of one inside another both, with a dot between."`
	Old    any          `json:"old" doc:"The value before."`
	New    any          `json:"new" doc:"The value afterwards."`
}

// effectRecord names a record.
type effectRecord struct {
	Type string `json:"type" doc:"What kind of record it is."`
	ID   string `json:"id" doc:"The id of the record."`
	Name string `json:"name" doc:"What people call it; empty where the call does not say."`
}

// EffectEvent is an event that is published.
type EffectEvent struct {
	Event string          `json:"event" doc:"What happens."`
	ID    string          `json:"id" doc:"The id of the record."`
	Data  json.RawMessage `json:"data" doc:"The record afterwards; null for one that the caller may not see."`
}

// EffectMail is a mail that goes out.
type EffectMail struct {
	To      []string `json:"to" doc:"The addresses that it goes to."`
	Subject string   `json:"subject" doc:"Its subject."`
	Text    string   `json:"text" doc:"Its text, with … in the place of links."`
	Team    bool     `json:"team,omitempty" doc:"true if it goes to somebody of the team, whose address is left out for who may not read it."`
}

// EffectWebhook is a webhook that gets an event.
type EffectWebhook struct {
	ID   uuid.UUID `json:"id" doc:"The id of the webhook."`
	Name string    `json:"name" doc:"What the team calls it."`
	Host string    `json:"host" doc:"Where its requests go."`
}

// EffectCommand is what another service is asked to do.
type EffectCommand struct {
	Service string `json:"service" doc:"Who is asked."`
	Kind    string `json:"kind" doc:"What for."`
	// The hash of what was never rehearsed is that of versions before this one.
	Rehearsed bool `json:"rehearsed,omitempty" doc:"true if what the service then does is among the effects."`

	topic string
}

// effectAudit is an entry in the audit log.
type effectAudit struct {
	Action     string   `json:"action" doc:"What is done."`
	RecordType string   `json:"record_type" doc:"What kind of record it is done to."`
	RecordID   string   `json:"record_id" doc:"The id of the record; empty for many or none."`
	RecordIDs  []string `json:"record_ids" doc:"Of a call about many records: all of them."`
}

// link is an address in the text of a mail: it may hold a token.
var link = regexp.MustCompile(`https?://\S+`)

// EffectsOf reads the effects of messages in the order in which a transaction has queued them. endpoints are the webhooks that there are.
func EffectsOf(messages []db.Message, endpoints []webhook.Endpoint) (Effects, error) {
	e := Effects{Changes: []EffectChange{}, Events: []EffectEvent{}, Mails: []EffectMail{}, Webhooks: []EffectWebhook{}, Commands: []EffectCommand{}}
	var entries []*proto.Audit
	for _, m := range messages {
		if len(m.Value) == 0 || m.Topic == proto.IdentityTopic || m.Topic == proto.ManifestTopic {
			continue // the end of a record, which has an event beside it, and what lets people in, which has no envelope
		}
		env := &proto.Envelope{}
		if err := protobuf.Unmarshal(m.Value, env); err != nil {
			return e, fmt.Errorf("op: effects: message on %s: %w", m.Topic, err)
		}
		var err error
		switch topic := proto.TopicNamed(m.Topic); {
		case env.GetKind() == proto.KindAudit:
			a := &proto.Audit{}
			err = protobuf.Unmarshal(env.GetData(), a)
			entries = append(entries, a)
		case env.GetKind() == proto.KindMail:
			mail := &proto.Mail{}
			err = protobuf.Unmarshal(env.GetData(), mail)
			e.Mails = append(e.Mails, EffectMail{To: []string{mail.GetTo()}, Subject: mail.GetSubject(), Text: link.ReplaceAllString(mail.GetText(), "…")})
		case topic.Readers != nil:
			for _, service := range topic.Readers {
				e.Commands = append(e.Commands, EffectCommand{Service: service, Kind: env.GetKind(), topic: m.Topic})
			}
		case env.GetKind() == proto.KindContactEnsured: // the answer to a command
		case !env.GetState():
			data := json.RawMessage("null")
			if len(env.GetData()) > 0 {
				data = env.GetData()
			}
			e.Events = append(e.Events, EffectEvent{env.GetKind(), env.GetRecordId(), data})
			if !env.GetAppOff() {
				err = e.reach(env.GetKind(), data, endpoints)
			}
		}
		if err != nil {
			return e, fmt.Errorf("op: effects: %s: %w", env.GetKind(), err)
		}
	}
	e.sortWebhooks()
	err := e.record(entries)
	return e, err
}

func (e *Effects) sortWebhooks() {
	slices.SortFunc(e.Webhooks, func(a, b EffectWebhook) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID.String(), b.ID.String()))
	})
}

// PartOf is EffectsOf for what a service publishes because of a call of another one. A record that ends without an event is "….gone", and the audit entry
// stays that of the call.
func PartOf(messages []db.Message, endpoints []webhook.Endpoint) (Effects, error) {
	e, err := EffectsOf(messages, endpoints)
	e.Audit = opt.Value[effectAudit]{}
	for _, m := range messages {
		if len(m.Value) == 0 && m.Topic != proto.IdentityTopic && e.about(m.Key) < 0 {
			_, record, _ := strings.Cut(m.Topic, ".")
			e.Events = append(e.Events, EffectEvent{record + ".gone", m.Key, json.RawMessage("null")})
		}
	}
	return e, err
}

// about is the place of the first event of a record; -1 without one.
func (e *Effects) about(id string) int {
	return slices.IndexFunc(e.Events, func(event EffectEvent) bool { return event.ID == id })
}

// AddParts adds what the other services would do because of messages of the service own, by service; nil stands for one that has not said so.
func (e *Effects) AddParts(own string, messages []db.Message, parts map[string]*Effects) {
	e.Commands = slices.Clone(e.Commands) // the effects that the caller was going to see share them
	e.rehearsed(own)
	for _, service := range slices.Sorted(maps.Keys(parts)) {
		part := parts[service]
		if part == nil {
			e.name(service, messages)
			continue
		}
		e.rehearsed(service)
		for i := range part.Mails {
			part.Mails[i].Team = part.Mails[i].Team || service == "settings" // it has the accounts, and mails their owners
		}
		e.add(*part)
	}
}

// add adds the part of another service.
func (e *Effects) add(part Effects) {
	e.Changes, e.Events, e.Mails = append(e.Changes, part.Changes...), append(e.Events, part.Events...), append(e.Mails, part.Mails...)
	e.Commands = append(e.Commands, part.Commands...)
	for _, w := range part.Webhooks {
		if !slices.Contains(e.Webhooks, w) {
			e.Webhooks = append(e.Webhooks, w)
		}
	}
	e.sortWebhooks()
}

// rehearsed says that what a service does by the commands to it is among the effects.
func (e *Effects) rehearsed(service string) {
	for i, c := range e.Commands {
		if c.Service == service && proto.TopicNamed(c.topic).Rehearses(service, c.Kind) {
			e.Commands[i].Rehearsed = true
		}
	}
}

// name names a service that would act by one of the messages and did not say what it would do.
func (e *Effects) name(service string, messages []db.Message) {
	if slices.ContainsFunc(e.Commands, func(c EffectCommand) bool { return c.Service == service }) {
		return
	}
	for _, m := range messages {
		env := &proto.Envelope{}
		if protobuf.Unmarshal(m.Value, env) == nil && env.GetKind() != "" && proto.TopicNamed(m.Topic).Rehearses(service, env.GetKind()) {
			e.Commands = append(e.Commands, EffectCommand{Service: service, Kind: env.GetKind()})
			return
		}
	}
}

// reach adds the webhooks that get an event, each once.
func (e *Effects) reach(event string, record json.RawMessage, endpoints []webhook.Endpoint) error {
	if !slices.ContainsFunc(endpoints, func(to webhook.Endpoint) bool { return slices.Contains(to.Events, event) }) {
		return nil
	}
	keys, err := webhook.KeysOf(record)
	if err != nil {
		return err
	}
	for _, to := range endpoints {
		if w := (EffectWebhook{to.ID, to.Name, to.Host}); to.Gets(event, keys) && !slices.Contains(e.Webhooks, w) {
			e.Webhooks = append(e.Webhooks, w)
		}
	}
	return nil
}

// record adds what the audit log will hold. The last entry is that of the call: an operation's own entry comes behind those of its records.
func (e *Effects) record(entries []*proto.Audit) error {
	for _, a := range entries {
		e.Audit = opt.Of(effectAudit{a.GetAction(), a.GetRecordType(), a.GetRecordId(), append([]string{}, a.GetRecordIds()...)})
		var changes change.Set
		if len(a.GetChanges()) > 0 {
			if err := json.Unmarshal(a.GetChanges(), &changes); err != nil {
				return fmt.Errorf("op: effects: changes: %w", err)
			}
		}
		ids := a.GetRecordIds()
		if len(ids) == 0 {
			ids = []string{a.GetRecordId()}
		}
		for _, id := range ids {
			for _, field := range slices.Sorted(maps.Keys(changes)) {
				e.Changes = append(e.Changes, EffectChange{effectRecord{a.GetRecordType(), id, e.nameOf(id)}, field, changes[field].Old, changes[field].New})
			}
		}
	}
	return nil
}

// nameOf is what people call a record that has an event, else empty.
func (e *Effects) nameOf(id string) string {
	i := e.about(id)
	if i < 0 {
		return ""
	}
	var record struct {
		Name      string `json:"name"`
		Title     string `json:"title"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Email     string `json:"email"`
	}
	_ = json.Unmarshal(e.Events[i].Data, &record) // a record without a name has none here either
	return cmp.Or(record.Name, record.Title, strings.TrimSpace(record.FirstName+" "+record.LastName), record.Email)
}

// clientRecords are the kinds of records that show clients: svc_view_contacts reads them.
var clientRecords = []string{"contact", "organization", "task", "appointment", "submission"}

// SeenBy leaves out what the actor may not read: webhooks and addresses of the team without the right to them, records that show clients without
// svc_view_contacts, and records of others for who sees their own, each with its changes. Changes of the record of the call itself stay.
func (e Effects) SeenBy(who db.Actor) Effects {
	if !who.Can(auth.ManageCRM) {
		e.Mails = slices.Clone(e.Mails)
		for i := range e.Mails {
			if e.Mails[i].Team {
				e.Mails[i].To = []string{}
			}
		}
	}
	if !who.Can(auth.ManageIntegrations) || who.Own {
		e.Webhooks = []EffectWebhook{}
	}
	viewer := who.Can(auth.ViewContacts)
	if viewer && !who.Own {
		return e
	}
	hidden := map[string]bool{}
	called := func(id string) bool { return id == e.Audit.V.RecordID || slices.Contains(e.Audit.V.RecordIDs, id) }
	e.Events = slices.Clone(e.Events)
	for i, event := range e.Events {
		kind := recordOf(event.Event)
		if !viewer && slices.Contains(clientRecords, kind) || who.Own && !mine(kind, event.Data, called(event.ID), who) {
			hidden[event.ID], e.Events[i].Data = true, json.RawMessage("null")
		}
	}
	e.Changes = slices.DeleteFunc(slices.Clone(e.Changes), func(c EffectChange) bool { return hidden[c.Record.ID] && !called(c.Record.ID) })
	return e
}

// recordOf is the kind of record that an event is about.
func recordOf(event string) string {
	kind, _, _ := strings.Cut(event, ".")
	switch {
	case event == proto.KindFormSubmitted:
		return "submission"
	case kind == "marketing":
		return "contact"
	}
	return kind
}

// ownedRecords are the kinds of records that somebody who sees their own does not see unless it says that they are theirs.
var ownedRecords = []string{"contact", "task", "appointment", "submission"}

// mine reports whether somebody who sees their own records sees this one. That of the call itself they see unless it says that it is somebody else's.
func mine(kind string, data json.RawMessage, called bool, who db.Actor) bool {
	var record struct {
		Owner *int64 `json:"owner_user_id"`
		Staff *struct {
			UserID int64 `json:"user_id"`
		} `json:"staff"`
	}
	if json.Unmarshal(data, &record) != nil || record.Owner != nil && *record.Owner != who.UserID || record.Staff != nil && record.Staff.UserID != who.UserID {
		return false
	}
	return called || record.Owner != nil || record.Staff != nil || !slices.Contains(ownedRecords, kind)
}

// Making is a call while its effects are read: what it makes itself differs in each run and is left out of the hash.
type Making struct {
	// After is an id that was made right before the call: later ones belong to records that the call makes.
	After uuid.UUID
	// creates says that the record that the audit log will name is made by the call. Its id is left out if it is a number.
	creates bool
	Now     time.Time
	moments []string // see db.Tx

	number string
}

// Hash is the same for calls with the same effects. It leaves out new ids and moments, and the order.
func (e Effects) Hash(m Making) string {
	raw, err := json.Marshal(e)
	if err != nil {
		return "" // it is made of JSON
	}
	v, _ := decoded(raw) // it was JSON before
	effects, _ := v.(map[string]any)
	if _, err := strconv.ParseInt(e.Audit.V.RecordID, 10, 64); err == nil && m.creates {
		m.number = e.Audit.V.RecordID
	}
	sum := sha256.New()
	for _, kind := range slices.Sorted(maps.Keys(effects)) {
		lines := []string{}
		all, several := effects[kind].([]any)
		if !several {
			all = []any{effects[kind]}
		}
		for _, one := range all {
			line, _ := json.Marshal(m.lasting("", one)) // it was JSON before
			lines = append(lines, string(line))
		}
		slices.Sort(lines)
		fmt.Fprintln(sum, kind, lines)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// lasting is a value under a name without what differs in each run.
func (m Making) lasting(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		field, _ := v["field"].(string)
		for k, x := range v {
			named := k
			if k == "old" || k == "new" {
				named = field[strings.LastIndexByte(field, '.')+1:]
			}
			v[k] = m.lasting(named, x)
		}
	case []any:
		for i, x := range v {
			v[i] = m.lasting(name, x)
		}
	case json.Number:
		if m.isNew(name, v.String()) {
			return "new"
		}
	case string:
		switch {
		case m.isNew(name, v):
			return "new"
		case m.isMoment(name, v):
			return "moment"
		}
		if name == "text" {
			for _, moment := range m.moments {
				v = strings.ReplaceAll(v, moment, "moment")
			}
		}
		if m.number != "" {
			if address, ok := strings.CutSuffix(v, "/"+m.number); ok {
				return address + "/new"
			}
		}
		return anID.ReplaceAllStringFunc(v, func(id string) string {
			if id > m.After.String() {
				return "new"
			}
			return id
		})
	}
	return v
}

// isNew reports whether a value is the number of the record that the call makes.
func (m Making) isNew(name, value string) bool {
	return m.number != "" && value == m.number && (name == "id" || strings.HasSuffix(name, "_id"))
}

// isMoment reports whether a value is a time that follows from when the call is made. When something begins and ends was chosen by somebody.
func (m Making) isMoment(name, value string) bool {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || name == "starts_at" || name == "ends_at" {
		return false
	}
	return strings.HasSuffix(name, "_at") || name == "last_activity" || at.Sub(m.Now).Abs() <= time.Second
}
