package live

import (
	"cmp"
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

// records are what listeners get of the records of each topic, with the app that each belongs to; of adds what an event itself says.
var records = map[string]struct {
	change
	of func(c *change, e bus.Event)
}{
	proto.ContactTopic:      {change{Type: "contact"}, ofContact},
	proto.OrganizationTopic: {change{Type: "organization"}, nil},
	proto.TaskTopic:         {change{Type: "task"}, ofTask},
	proto.FieldTopic:        {change{Type: "field"}, nil},
	proto.AppointmentTopic:  {change{Type: "appointment", app: "booking"}, ofAppointment},
	proto.ServiceTopic: {change{Type: "service", app: "booking"}, func(c *change, e bus.Event) {
		if e.Kind == proto.KindBookingSettingsUpdated {
			c.Type, c.ID = "settings", "booking"
		}
	}},
	proto.StaffTopic: {change{Type: "staff"}, nil},
	proto.FormTopic:  {change{Type: "form", app: "forms"}, nil},
	// Who owns the contact of a submission, contacts alone knows.
	proto.SubmissionTopic: {change{Type: "submission", app: "forms", mine: func(db.Actor) bool { return false }, moves: true}, nil},
	proto.SiteTopic:       {change{Type: "settings"}, func(c *change, e bus.Event) { c.permission = readsSettings(e.Key) }},
	proto.AppsTopic:       {change{Type: "app"}, func(c *change, _ bus.Event) { c.ID = "" }},
	proto.PageTopic:       {change{Type: "page"}, nil},
}

// topics are those that changes are read from.
var topics = []string{proto.ContactTopic, proto.OrganizationTopic, proto.TaskTopic, proto.FieldTopic, proto.AppointmentTopic, proto.ServiceTopic, proto.StaffTopic,
	proto.FormTopic, proto.SubmissionTopic, proto.SiteTopic, proto.AppsTopic, proto.PageTopic, proto.AuditTopic}

// changesOf returns what listeners get of an event: nothing of one by which nothing happened.
func changesOf(e bus.Event) []change {
	if e.State || e.Key == proto.StateKey || e.Kind == proto.KindContactEnsured {
		return nil
	}
	if e.Topic == proto.AuditTopic {
		return audited(e)
	}
	record, ok := records[e.Topic]
	if !ok {
		return nil
	}
	c := record.change
	c.ID, c.Version, c.Actor, c.Changed = e.Key, e.Version, e.Actor.Label, e.Changed
	c.Gone = e.Tombstone || e.Kind == proto.KindContactErased || e.Kind == proto.KindContactMergedAway
	if record.of != nil {
		record.of(&c, e)
	}
	return []change{c}
}

func ofContact(c *change, e bus.Event) {
	var record struct {
		Owner int64 `json:"owner_user_id"`
	}
	_ = json.Unmarshal(e.Data, &record) // without a record nobody owns it
	c.mine = func(who db.Actor) bool { return record.Owner != 0 && record.Owner == who.UserID }
	c.moves = c.Gone || slices.Contains(e.Changed, "owner_user_id") || e.Kind == proto.KindContactMerged
}

// ofTask tells everybody that some task has changed: who owns the contact of one, contacts alone knows.
func ofTask(c *change, e bus.Event) {
	ofContact(c, e)
	c.moves = true
}

func ofAppointment(c *change, e bus.Event) {
	var record struct {
		Staff struct {
			UserID int64 `json:"user_id"`
		} `json:"staff"`
	}
	_ = json.Unmarshal(e.Data, &record)
	c.mine = func(who db.Actor) bool { return record.Staff.UserID != 0 && record.Staff.UserID == who.UserID }
	c.moves = c.Gone || slices.Contains(e.Changed, "staff")
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

// logged are the records of which listeners hear by the audit log, because no topic carries their changes, or not all.
var logged = map[string]struct {
	change
	own   bool     // listeners with own visibility hear of what they did themselves
	whole bool     // of which only the type is told
	not   []string // actions that change nothing on a screen
}{
	"contact":      {own: true},
	"organization": {},
	"tag":          {},
	"import":       {own: true},
	"time_off":     {change: change{app: "booking", moves: true}, own: true},
	"webhook":      {change: change{permission: auth.ManageIntegrations}},
	"role":         {change: change{permission: auth.ManageCRM}},
	"invitation":   {change: change{permission: auth.ManageCRM}},
	"field_group":  {change: change{Type: "field"}, whole: true},
	"user":         {whole: true, not: []string{"sign-in", "sign-out"}},
	"view":         {whole: true},

	"external_calendar": {change: change{app: "booking"}, whole: true},
	"mail_template":     {change: change{permission: auth.ManageCRM}, whole: true},
}

// audited are the changes of an entry of the audit log: that the log has grown, and the record's. The same change from two topics reaches
// listeners once.
func audited(e bus.Event) []change {
	var entry proto.Audit
	if e.Decode(&entry) != nil {
		return nil
	}
	byMe := func(who db.Actor) bool { return e.Actor.UserID != 0 && e.Actor.UserID == who.UserID }
	all := []change{{Type: "audit_entry", permission: auth.ManageIntegrations, mine: byMe}}
	record, ok := logged[entry.GetRecordType()]
	if !ok || entry.GetOutcome() != "done" || slices.Contains(record.not, entry.GetAction()) {
		return all
	}
	c := record.change
	c.Type, c.Actor = cmp.Or(c.Type, entry.GetRecordType()), e.Actor.Label
	c.moves = c.moves || slices.Contains([]string{"add-note", "update-note", "delete-note"}, entry.GetAction())
	if !record.whole {
		c.ID = entry.GetRecordId()
	}
	if record.own {
		c.mine = byMe
	}
	return append(all, c)
}
