// Package proto is what crosses a process: the messages (generated from the .proto files), the topics
// and the samples of every event.
package proto

import (
	"slices"
	"time"
)

// Topic is a Kafka topic, who uses it and how it is kept.
type Topic struct {
	Name string
	// Partitions never changes: with another number a key's messages would lie in two partitions, and their order would be lost.
	Partitions int
	// Compacted topics keep the newest record of each key for good, and every message for KeepAll. The others keep every
	// message for Keep, KeepAll unless it is set.
	Compacted bool
	Keep      time.Duration
	// Owner is the only service that publishes on it; empty where others do.
	Owner string
	// Writers are the processes that publish on a topic without an owner.
	Writers []string
	// Readers are the services that have to act on every message: the sender keeps a message until each of them has consumed it.
	// Copies of records need none, because their owner can publish its state again.
	Readers []string
	// Copies are the other processes that consume it or keep it in memory.
	Copies []string
	// Rehearse are those of Readers and Copies that can say what they will do because of a message: all of it is in the transaction that handles it, or in
	// bus.Follow.Later, and what they publish there shows it.
	Rehearse []string
	// Unrehearsed are the kinds of messages with Readers about which nobody is asked, and why.
	Unrehearsed map[string]string
	// Signed messages carry the signature of their Owner; without one, that of the service which their key names. Readers refuse
	// all others.
	Signed bool
	// SealedTo is the only service that can read the values; empty for a topic that every service may read.
	SealedTo string
}

// Rehearses reports whether a service can say what it will do because of a message of a kind.
func (t Topic) Rehearses(service, kind string) bool {
	return slices.Contains(t.Rehearse, service) && t.Unrehearsed[kind] == ""
}

// SignerOf is the service that signs the messages of a key in a Signed topic.
func (t Topic) SignerOf(key string) string {
	if t.Owner == "" {
		return key
	}
	return t.Owner
}

// Services are the processes with a schema; Gateway is the one without.
var Services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// Gateway is the controller of the gateway.
const Gateway = "gateway"

// KeepAll is for how long a topic keeps every message, unless it says otherwise. A reader that was away for less sees all.
const KeepAll = 7 * 24 * time.Hour

// keepErasures is for how long svc.forget keeps who was erased, as ids and hashes: an older backup that is restored is cleared of
// these people again.
const keepErasures = 100 * 24 * time.Hour

// The topics. A record topic is keyed by record id, a table topic by what its message says.
const (
	ContactTopic      = "contacts.contact"
	OrganizationTopic = "contacts.organization"
	TaskTopic         = "contacts.task"
	FieldTopic        = "contacts.field"
	AppointmentTopic  = "booking.appointment"
	ServiceTopic      = "booking.service"
	StaffTopic        = "booking.staff"
	FormTopic         = "forms.form"
	SubmissionTopic   = "forms.submission"
	IdentityTopic     = "settings.identity"
	SiteTopic         = "settings.site"
	AppsTopic         = "settings.apps"
	PageTopic         = "settings.page"
	EndpointTopic     = "webhooks.endpoint"

	ContactsCommandTopic = "contacts.command"
	BookingCommandTopic  = "booking.command"
	FormsCommandTopic    = "forms.command"
	SettingsCommandTopic = "settings.command"
	MailTopic            = "settings.mail"
	AuditTopic           = "svc.audit"
	ForgetTopic          = "svc.forget"
	ManifestTopic        = "svc.manifest"
	PresenceTopic        = "svc.presence"
	RehearsalTopic       = "svc.rehearsal"
)

// Topics lists all of them; every process makes sure that they exist before it uses them.
var Topics = []Topic{
	{Name: ContactTopic, Partitions: 4, Compacted: true, Owner: "contacts", Copies: []string{"booking", "forms", "settings", "webhooks"}, Rehearse: []string{"booking", "forms"}},
	{Name: OrganizationTopic, Partitions: 2, Compacted: true, Owner: "contacts", Copies: []string{"booking", "forms", "settings", "webhooks"}},
	{Name: TaskTopic, Partitions: 2, Compacted: true, Owner: "contacts", Copies: []string{"booking", "settings", "webhooks"}},
	{Name: FieldTopic, Partitions: 1, Compacted: true, Owner: "contacts", Copies: []string{"booking", "forms", "settings"}},
	{Name: AppointmentTopic, Partitions: 4, Compacted: true, Owner: "booking", Copies: []string{"contacts", "settings", "webhooks"}},
	{Name: ServiceTopic, Partitions: 1, Compacted: true, Owner: "booking", Copies: []string{"settings"}},
	{Name: StaffTopic, Partitions: 1, Compacted: true, Owner: "booking", Signed: true, Copies: []string{"contacts", "settings"}, Rehearse: []string{"contacts", "settings"}},
	{Name: FormTopic, Partitions: 1, Compacted: true, Owner: "forms", Copies: []string{"booking", "settings"}},
	{Name: SubmissionTopic, Partitions: 4, Compacted: true, Owner: "forms", Copies: []string{"contacts", "settings", "webhooks"}},
	{Name: IdentityTopic, Partitions: 1, Compacted: true, Owner: "settings", Signed: true, Copies: Services},
	{Name: SiteTopic, Partitions: 1, Compacted: true, Owner: "settings", Signed: true, Copies: Services},
	{Name: AppsTopic, Partitions: 1, Compacted: true, Owner: "settings", Signed: true, Copies: append([]string{Gateway}, Services...)},
	{Name: PageTopic, Partitions: 1, Compacted: true, Owner: "settings", Copies: []string{"booking", "forms", "settings"}},
	{Name: EndpointTopic, Partitions: 1, Compacted: true, Owner: "webhooks", Copies: Services},
	{Name: ContactsCommandTopic, Partitions: 4, Writers: []string{"booking", "forms"}, Readers: []string{"contacts"}, Rehearse: []string{"contacts"}, SealedTo: "contacts"},
	{Name: BookingCommandTopic, Partitions: 1, Writers: []string{"settings"}, Readers: []string{"booking"}, Rehearse: []string{"booking"}, SealedTo: "booking"},
	{Name: FormsCommandTopic, Partitions: 2, Writers: []string{"booking"}, Readers: []string{"forms"}, Rehearse: []string{"forms"}, SealedTo: "forms"},
	{Name: SettingsCommandTopic, Partitions: 2, Writers: Services, Readers: []string{"settings"}, SealedTo: "settings", Unrehearsed: map[string]string{
		KindEmbedInPage: "who sends it waits for the page, so the call itself cannot be rehearsed", KindRemovalRefused: "it answers a command",
		KindAskApproval: "a rehearsal never waits", KindSessionSeen: "no call sends it", KindKeySeen: "no call sends it"}},
	{Name: MailTopic, Partitions: 2, Writers: Services, Readers: []string{"settings"}, Rehearse: []string{"settings"}, SealedTo: "settings", Unrehearsed: map[string]string{
		KindMail: "the mail is an effect itself"}},
	{Name: AuditTopic, Partitions: 2, Writers: Services, Readers: []string{"settings"}, SealedTo: "settings", Unrehearsed: map[string]string{
		KindAudit: "the entry is an effect itself"}},
	{Name: ForgetTopic, Partitions: 1, Keep: keepErasures, Owner: "contacts", Signed: true, Readers: Services, Rehearse: Services},
	{Name: ManifestTopic, Partitions: 1, Compacted: true, Signed: true, Writers: Services, Copies: []string{"settings", Gateway}},
	{Name: PresenceTopic, Partitions: 1, Keep: 10 * time.Minute, Writers: append([]string{Gateway}, Services...), Copies: []string{"settings", Gateway}},
	{Name: RehearsalTopic, Partitions: 1, Keep: 10 * time.Minute, Writers: Services, Copies: Services},
}

// TopicsOf returns all topics, where those of several partitions have n, unless n is 0.
func TopicsOf(n int) []Topic {
	topics := slices.Clone(Topics)
	for i := range topics {
		if n > 0 && topics[i].Partitions > 1 {
			topics[i].Partitions = n
		}
	}
	return topics
}

// TopicNamed returns the topic of this name. For a name that is not in Topics only the name is set.
func TopicNamed(name string) Topic {
	if i := slices.IndexFunc(Topics, func(t Topic) bool { return t.Name == name }); i >= 0 {
		return Topics[i]
	}
	return Topic{Name: name}
}
