// Package proto is what crosses a process: the messages (generated from the .proto files), the topics
// and the samples of every event.
package proto

// Topic is a Kafka topic and how it is kept.
type Topic struct {
	Name       string
	Partitions int
	// Compacted topics keep the newest record of each key for good; the others a week of everything.
	Compacted bool
}

// The topics. A record topic is keyed by record id, a table topic by what its message says.
const (
	ContactTopic      = "contacts.contact"
	OrganizationTopic = "contacts.organization"
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

	ContactsCommandTopic = "contacts.command"
	FormsCommandTopic    = "forms.command"
	SettingsCommandTopic = "settings.command"
	MailTopic            = "settings.mail"
	AuditTopic           = "svc.audit"
	ForgetTopic          = "svc.forget"
	ManifestTopic        = "svc.manifest"
	PresenceTopic        = "svc.presence"
)

// Topics lists all of them; every process makes sure that they exist before it uses them.
var Topics = []Topic{
	{ContactTopic, 4, true},
	{OrganizationTopic, 2, true},
	{FieldTopic, 1, true},
	{AppointmentTopic, 4, true},
	{ServiceTopic, 1, true},
	{StaffTopic, 1, true},
	{FormTopic, 1, true},
	{SubmissionTopic, 4, true},
	{IdentityTopic, 1, true},
	{SiteTopic, 1, true},
	{AppsTopic, 1, true},
	{PageTopic, 1, true},
	{ContactsCommandTopic, 4, false},
	{FormsCommandTopic, 2, false},
	{SettingsCommandTopic, 2, false},
	{MailTopic, 2, false},
	{AuditTopic, 2, false},
	{ForgetTopic, 1, false},
	{ManifestTopic, 1, true},
	{PresenceTopic, 1, true},
}
