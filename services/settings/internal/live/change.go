package live

import (
	"encoding/json"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// change is one change as listeners get it: the kind of record, and if the listener may see it which one, by whom. Screens read again
// what they show of it.
type change struct {
	Type    string   `json:"type"`
	ID      string   `json:"id,omitempty"`
	Version int64    `json:"version,omitempty"`
	Actor   string   `json:"actor,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Gone    bool     `json:"gone,omitempty"`

	// app that the record belongs to; empty for none.
	app string
	// permission that the record is read with, beside svc_view_contacts.
	permission string
	// mine reports whether a listener with own visibility sees the record; nil for records that everybody sees.
	mine func(who db.Actor) bool
	// moves tells that the record may have come to, or left, a listener with own visibility who does not see it.
	moves bool
}

// sees is how much of a change a listener gets.
type sees int

const (
	nothing sees = iota
	// itsType: that something changed in lists of this type.
	itsType
	itsRecord
)

func (c change) seenBy(who db.Actor) sees {
	switch {
	case c.permission != "" && !who.Can(c.permission):
		return nothing
	case !who.Own || c.mine == nil || c.mine(who):
		if c.ID == "" {
			return itsType
		}
		return itsRecord
	case c.moves:
		return itsType
	}
	return nothing
}

// topics are those that changes are read from.
var topics = []string{proto.ContactTopic, proto.OrganizationTopic, proto.FieldTopic, proto.AppointmentTopic, proto.ServiceTopic, proto.StaffTopic,
	proto.FormTopic, proto.SubmissionTopic, proto.SiteTopic, proto.AppsTopic, proto.PageTopic, proto.AuditTopic}

// types are the kinds of records by their topics, with the app that each belongs to.
var types = map[string]change{
	proto.ContactTopic:      {Type: "contact"},
	proto.OrganizationTopic: {Type: "organization"},
	proto.FieldTopic:        {Type: "field"},
	proto.AppointmentTopic:  {Type: "appointment", app: "booking"},
	proto.ServiceTopic:      {Type: "service", app: "booking"},
	proto.StaffTopic:        {Type: "staff"},
	proto.FormTopic:         {Type: "form", app: "forms"},
	proto.SubmissionTopic:   {Type: "submission", app: "forms"},
	proto.SiteTopic:         {Type: "settings"},
	proto.AppsTopic:         {Type: "app"},
	proto.PageTopic:         {Type: "page"},
}

// changesOf returns what listeners get of an event: nothing of one by which nothing happened.
func changesOf(e bus.Event) []change {
	if e.State || e.Key == proto.StateKey || e.Kind == proto.KindContactEnsured {
		return nil
	}
	if e.Topic == proto.AuditTopic {
		return audited(e)
	}
	c, ok := types[e.Topic]
	if !ok {
		return nil
	}
	c.ID, c.Version, c.Actor, c.Changed = e.Key, e.Version, e.Actor.Label, e.Changed
	c.Gone = e.Tombstone || e.Kind == proto.KindContactErased || e.Kind == proto.KindContactMergedAway
	switch e.Topic {
	case proto.ContactTopic:
		var record struct {
			Owner int64 `json:"owner_user_id"`
		}
		_ = json.Unmarshal(e.Data, &record) // without a record nobody owns it
		c.mine = func(who db.Actor) bool { return record.Owner != 0 && record.Owner == who.UserID }
		c.moves = c.Gone || slices.Contains(e.Changed, "owner_user_id") || e.Kind == proto.KindContactMerged
	case proto.AppointmentTopic:
		var record struct {
			Staff struct {
				UserID int64 `json:"user_id"`
			} `json:"staff"`
		}
		_ = json.Unmarshal(e.Data, &record)
		c.mine = func(who db.Actor) bool { return record.Staff.UserID != 0 && record.Staff.UserID == who.UserID }
		c.moves = c.Gone || slices.Contains(e.Changed, "staff")
	case proto.SubmissionTopic:
		// Who owns the contact of a submission, contacts alone knows.
		c.mine, c.moves = func(db.Actor) bool { return false }, true
	case proto.ServiceTopic:
		if e.Kind == proto.KindBookingSettingsUpdated {
			c.Type, c.ID = "settings", "booking"
		}
	case proto.SiteTopic:
		c.permission = readsSettings(e.Key)
	case proto.AppsTopic:
		c.ID = ""
	}
	return []change{c}
}

// readsSettings is the permission that a settings document is read with.
func readsSettings(document string) string {
	switch document {
	case "form-style", "booking":
		return ""
	case "api-access":
		return auth.ManageIntegrations
	}
	return auth.ManageCRM
}

// audited are the changes of an entry of the audit log: that the log has grown, and for a record whose changes no topic carries, or
// not all, the record's. The same change from two topics reaches listeners once.
func audited(e bus.Event) []change {
	var entry proto.Audit
	if e.Decode(&entry) != nil {
		return nil
	}
	byMe := func(who db.Actor) bool { return e.Actor.UserID != 0 && e.Actor.UserID == who.UserID }
	all := []change{{Type: "audit_entry", permission: auth.ManageIntegrations, mine: byMe}}
	if entry.GetOutcome() != "done" {
		return all
	}
	c := change{Type: entry.GetRecordType(), ID: entry.GetRecordId(), Actor: e.Actor.Label}
	switch c.Type {
	case "contact":
		c.mine, c.moves = byMe, entry.GetAction() == "add-note"
	case "organization", "tag":
	case "appointment":
		return all // its topic carries all of them
	case "import":
		c.mine = byMe
	case "time_off":
		c.app, c.mine, c.moves = "booking", byMe, true
	case "webhook":
		c.permission = auth.ManageIntegrations
	case "role", "invitation":
		c.permission = auth.ManageCRM
	case "field_group":
		c.Type, c.ID = "field", ""
	case "user":
		if entry.GetAction() == "sign-in" || entry.GetAction() == "sign-out" {
			return all
		}
		c.ID = ""
	default:
		return all
	}
	return append(all, c)
}
