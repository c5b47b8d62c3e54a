package proto

import "google.golang.org/protobuf/proto"

// Kinds are what the field kind of an Envelope says: what happened to a record, or what is asked of its owner. Producers
// and consumers name them by these constants only.
const (
	// contacts.contact: the record is a contact.
	KindContactCreated        = "contact.created"
	KindContactUpdated        = "contact.updated"
	KindContactDeleted        = "contact.deleted"
	KindContactRestored       = "contact.restored"
	KindContactMerged         = "contact.merged"      // extra: Merged
	KindContactMergedAway     = "contact.merged_away" // extra: MergedAway; the record is {"id": …}; stays under the key for good
	KindContactErased         = "contact.erased"      // the record is {"id": …}; stays under the key for good
	KindContactEnsured        = "contact.ensured"     // extra: Ensured; the record is null when there is no contact
	KindMarketingSubscribed   = "marketing.subscribed"
	KindMarketingUnsubscribed = "marketing.unsubscribed"

	// contacts.organization
	KindOrganizationCreated  = "organization.created"
	KindOrganizationUpdated  = "organization.updated"
	KindOrganizationDeleted  = "organization.deleted"
	KindOrganizationRestored = "organization.restored"
	KindOrganizationMerged   = "organization.merged" // extra: Merged

	// contacts.task
	KindTaskCreated = "task.created"
	KindTaskUpdated = "task.updated"
	KindTaskDone    = "task.done"
	KindTaskDeleted = "task.deleted"

	// contacts.field
	KindFieldCreated = "field.created"
	KindFieldUpdated = "field.updated"

	// booking.appointment
	KindAppointmentBooked       = "appointment.booked"
	KindAppointmentConfirmed    = "appointment.confirmed"
	KindAppointmentDeclined     = "appointment.declined"
	KindAppointmentRescheduled  = "appointment.rescheduled"
	KindAppointmentPlaceChanged = "appointment.place_changed"
	KindAppointmentCancelled    = "appointment.cancelled"
	KindAppointmentCompleted    = "appointment.completed"
	KindAppointmentNoShow       = "appointment.no_show"
	KindAppointmentReopened     = "appointment.reopened"
	KindAppointmentUpdated      = "appointment.updated"
	KindAppointmentReminderDue  = "appointment.reminder_due" // extra: {"hours": …}; the record is as it was

	// booking.service
	KindServiceCreated         = "service.created"
	KindServiceUpdated         = "service.updated"
	KindServiceArchived        = "service.archived"
	KindBookingSettingsUpdated = "booking_settings.updated"

	// booking.staff
	KindStaffUpdated = "staff.updated"
	KindStaffRemoved = "staff.removed" // extra: StaffRemoved

	// forms.form
	KindFormCreated  = "form.created"
	KindFormUpdated  = "form.updated"
	KindFormDeleted  = "form.deleted"
	KindFormRestored = "form.restored"

	// forms.submission
	KindFormSubmitted     = "form.submitted"
	KindSubmissionUpdated = "submission.updated"
	KindSubmissionDeleted = "submission.deleted"

	// settings.page
	KindPageCreated = "page.created" // extra: PageEmbedded, where a service asked for it
	KindPageUpdated = "page.updated" // extra: the same
	KindPageDeleted = "page.deleted"

	// settings.site and settings.apps
	KindSiteUpdated = "site.updated"
	KindAppsUpdated = "apps.updated"

	// webhooks.endpoint
	KindEndpointUpdated = "endpoint.updated"

	// topics of one partition with one owner
	KindStatePublished = "state.published" // all records are on the topic before it; its key is StateKey

	// contacts.command
	KindEnsureContact = "ensure_contact" // EnsureContact
	KindEnsureFields  = "ensure_fields"  // EnsureFields
	// booking.command
	KindRemoveStaff = "remove_staff" // RemoveStaff
	KindSendAgenda  = "send_agenda"  // SendAgenda
	KindRenewLink   = "renew_link"   // RenewLink
	// forms.command
	KindRecordSubmission = "record_submission" // RecordSubmission
	// settings.command
	KindEmbedInPage    = "embed_in_page"   // EmbedInPage
	KindSessionSeen    = "session_seen"    // SessionSeen
	KindKeySeen        = "key_seen"        // KeySeen
	KindRemovalRefused = "removal_refused" // RemovalRefused
	KindAskApproval    = "ask_approval"    // AskApproval
	// settings.mail, svc.audit, svc.forget
	KindMail         = "mail"          // Mail
	KindTellTeam     = "tell_team"     // Notice
	KindAudit        = "audit"         // Audit
	KindForgetPerson = "forget_person" // ForgetPerson
	// svc.rehearsal
	KindRehearse  = "rehearse"  // SignedRehearsal of a Rehearse
	KindRehearsed = "rehearsed" // SignedRehearsal of a Rehearsed
)

// StateKey is the key of state.published, which no record has.
const StateKey = "~state"

// CommandOf is an empty message of the type that a command of this kind carries; nil for kinds whose data is JSON.
func CommandOf(kind string) proto.Message {
	switch kind {
	case KindEnsureContact:
		return &EnsureContact{}
	case KindEnsureFields:
		return &EnsureFields{}
	case KindRecordSubmission:
		return &RecordSubmission{}
	case KindRemoveStaff:
		return &RemoveStaff{}
	case KindRemovalRefused:
		return &RemovalRefused{}
	case KindAskApproval:
		return &AskApproval{}
	case KindEmbedInPage:
		return &EmbedInPage{}
	case KindSessionSeen:
		return &SessionSeen{}
	case KindKeySeen:
		return &KeySeen{}
	case KindTellTeam:
		return &Notice{}
	case KindSendAgenda:
		return &SendAgenda{}
	case KindRenewLink:
		return &RenewLink{}
	case KindMail:
		return &Mail{}
	case KindAudit:
		return &Audit{}
	case KindForgetPerson:
		return &ForgetPerson{}
	}
	return nil
}
