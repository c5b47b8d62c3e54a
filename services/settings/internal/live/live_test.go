package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

var (
	manager  = db.Actor{UserID: 1, Capabilities: holds(auth.Permissions...)}
	viewer   = db.Actor{UserID: 2, Capabilities: holds(auth.ViewContacts)}
	ownStaff = db.Actor{UserID: 3, Own: true, Capabilities: holds(auth.ViewContacts, auth.EditContacts, auth.ManageBookings)}
)

func holds(permissions ...string) map[string]bool {
	all := map[string]bool{}
	for _, p := range permissions {
		all[p] = true
	}
	return all
}

func audit(t *testing.T, by int64, action, kind, id, outcome string) bus.Event {
	t.Helper()
	data, err := protobuf.Marshal(&proto.Audit{Action: action, RecordType: kind, RecordId: id, Outcome: outcome})
	require.NoError(t, err)
	return bus.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: "a", Actor: db.Actor{UserID: by, Label: "Ada"}, Data: data}
}

// heard is what somebody gets of events within one window: a type, and behind it the id if the record is named.
func heard(t *testing.T, who db.Actor, events ...bus.Event) string {
	t.Helper()
	var w window
	for _, e := range events {
		for _, c := range changesOf(e) {
			w.add(c)
		}
	}
	var all []string
	for text := range strings.SplitSeq(string(textFor(who, w.messages(1))), "\n") {
		if data, ok := strings.CutPrefix(text, "data: "); ok {
			var c change
			require.NoError(t, json.Unmarshal([]byte(data), &c))
			all = append(all, strings.TrimSpace(c.Type+" "+c.ID))
		}
	}
	return strings.Join(all, ", ")
}

func TestListenersHearOfRecordsThatTheyMaySee(t *testing.T) {
	t.Parallel()
	record := func(topic, kind, key, data string, changed ...string) bus.Event {
		return bus.Event{Topic: topic, Kind: kind, Key: key, Version: 2, Data: []byte(data), Changed: changed}
	}
	for name, c := range map[string]struct {
		event                bus.Event
		manager, viewer, own string
	}{
		"a contact of the listener":       {record(proto.ContactTopic, proto.KindContactUpdated, "c", `{"owner_user_id":3}`), "contact c", "contact c", "contact c"},
		"a contact of somebody else":      {record(proto.ContactTopic, proto.KindContactUpdated, "c", `{"owner_user_id":1}`), "contact c", "contact c", ""},
		"a contact of nobody":             {record(proto.ContactTopic, proto.KindContactCreated, "c", `{"owner_user_id":null}`), "contact c", "contact c", ""},
		"a contact that changed hands":    {record(proto.ContactTopic, proto.KindContactUpdated, "c", `{"owner_user_id":1}`, "owner_user_id"), "contact c", "contact c", "contact"},
		"a contact that was erased":       {record(proto.ContactTopic, proto.KindContactErased, "c", `{"id":"c"}`), "contact c", "contact c", "contact"},
		"an answer to a command":          {record(proto.ContactTopic, proto.KindContactEnsured, "c", `null`), "", "", ""},
		"a record that is sent again":     {bus.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "c", State: true}, "", "", ""},
		"an organization":                 {record(proto.OrganizationTopic, proto.KindOrganizationUpdated, "o", `{}`), "organization o", "organization o", "organization o"},
		"a task of the listener":          {record(proto.TaskTopic, proto.KindTaskDone, "t", `{"owner_user_id":3}`), "task t", "task t", "task t"},
		"a task of somebody else":         {record(proto.TaskTopic, proto.KindTaskDone, "t", `{"owner_user_id":1}`), "task t", "task t", "task"},
		"an appointment of the listener":  {record(proto.AppointmentTopic, proto.KindAppointmentBooked, "a", `{"staff":{"user_id":3}}`), "appointment a", "appointment a", "appointment a"},
		"an appointment of somebody else": {record(proto.AppointmentTopic, proto.KindAppointmentBooked, "a", `{"staff":{"user_id":1}}`), "appointment a", "appointment a", ""},
		"an appointment that moved":       {record(proto.AppointmentTopic, proto.KindAppointmentRescheduled, "a", `{"staff":{"user_id":1}}`, "staff"), "appointment a", "appointment a", "appointment"},
		"an appointment that is gone":     {bus.Event{Topic: proto.AppointmentTopic, Key: "a", Tombstone: true}, "appointment a", "appointment a", "appointment"},
		"a submission":                    {record(proto.SubmissionTopic, proto.KindFormSubmitted, "s", `{}`), "submission s", "submission s", "submission"},
		"booking settings":                {record(proto.ServiceTopic, proto.KindBookingSettingsUpdated, "booking-settings", `{}`), "settings booking", "settings booking", "settings booking"},
		"general settings":                {record(proto.SiteTopic, proto.KindSiteUpdated, "general", `{}`), "settings general", "", ""},
		"the form style":                  {record(proto.SiteTopic, proto.KindSiteUpdated, "form-style", `{}`), "settings form-style", "settings form-style", "settings form-style"},
		"an app":                          {record(proto.AppsTopic, proto.KindAppsUpdated, "apps", `{}`), "app", "app", "app"},
		"a note by a colleague":           {audit(t, 1, "add-note", "contact", "c", "done"), "audit_entry, contact c", "contact c", "contact"},
		"a note of one's own":             {audit(t, 3, "add-note", "contact", "c", "done"), "audit_entry, contact c", "contact c", "contact c"},
		"a refusal":                       {audit(t, 1, "update-contact", "contact", "c", "refused"), "audit_entry", "", ""},
		"a webhook":                       {audit(t, 1, "update-webhook", "webhook", "w", "done"), "audit_entry, webhook w", "", ""},
		"an import of a colleague":        {audit(t, 1, "start-import", "import", "i", "done"), "audit_entry, import i", "import i", ""},
		"a view":                          {audit(t, 1, "update-view", "view", "v", "done"), "audit_entry, view", "view", "view"},
		"a calendar of another program":   {audit(t, 1, "update-external-calendar", "external_calendar", "x", "done"), "audit_entry, external_calendar", "external_calendar", "external_calendar"},
		"words of a mail":                 {audit(t, 1, "update-mail-template", "mail_template", "k/en", "done"), "audit_entry, mail_template", "", ""},
		"time off":                        {audit(t, 1, "add-time-off", "time_off", "x", "done"), "audit_entry, time_off x", "time_off x", "time_off"},
		"somebody signs in":               {audit(t, 1, "sign-in", "user", "1", "done"), "audit_entry", "", ""},
		"an application password":         {audit(t, 1, "create-application-password", "application_password", "k", "done"), "audit_entry", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.manager, heard(t, manager, c.event), "who sees all and may do all")
			require.Equal(t, c.viewer, heard(t, viewer, c.event), "who sees all")
			require.Equal(t, c.own, heard(t, ownStaff, c.event), "who sees their own")
		})
	}
}

func TestWhatOneTransactionSaysTwiceIsOneMessage(t *testing.T) {
	t.Parallel()
	var w window
	for _, e := range []bus.Event{
		audit(t, 1, "update-contact", "contact", "c", "done"),
		{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "c", Version: 7, Changed: []string{"email"}, Actor: db.Actor{Label: "Ada"}, Data: []byte(`{"owner_user_id":1}`)},
		{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "c", Version: 8, Changed: []string{"email", "phone"}, Actor: db.Actor{Label: "Bo"}, Data: []byte(`{"owner_user_id":1}`)},
	} {
		for _, c := range changesOf(e) {
			w.add(c)
		}
	}
	require.Equal(t, "event: change\ndata: {\"type\":\"contact\",\"id\":\"c\",\"version\":8,\"actor\":\"Bo\",\"changed\":[\"email\",\"phone\"]}\n\n",
		string(textFor(viewer, w.messages(1))))
}

func TestOfManyRecordsTheTypeAloneIsTold(t *testing.T) {
	t.Parallel()
	var imported []bus.Event
	for i := range 1000 {
		imported = append(imported, bus.Event{Topic: proto.ContactTopic, Kind: proto.KindContactCreated, Key: fmt.Sprint(i), Version: 1, Data: []byte(`{"owner_user_id":1}`)})
	}
	require.Equal(t, mostOfType, strings.Count(heard(t, viewer, imported[:mostOfType]...), "contact "))
	require.Equal(t, "contact", heard(t, viewer, imported...))
	require.Equal(t, "contact", heard(t, ownStaff, imported...), "who sees their own may be among them")
	var switched []bus.Event
	for i := range 1000 {
		switched = append(switched, audit(t, 1, "update-webhook", "webhook", fmt.Sprint(i), "done"))
	}
	require.Empty(t, heard(t, viewer, switched...), "whoever may not see webhooks")
}

func TestAListenerGoesOnWhereItWasAsLongAsThatIsKept(t *testing.T) {
	t.Parallel()
	l := New(nil, func(string) bool { return true })
	require.Empty(t, l.Mark(t.Context()), "what reads does not run")
	l.begin()
	first := l.Mark(t.Context())
	pass := func(records int) {
		for i := range records {
			l.collect(bus.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: fmt.Sprint(i), Version: 2, Data: []byte("{}")})
		}
		l.pass()
	}
	missed := func(mark string) int {
		messages, continued := l.since(mark)
		if !continued {
			return -1
		}
		return len(messages)
	}
	pass(2)
	second := l.Mark(t.Context())
	pass(3)
	require.Equal(t, []int{5, 3, 0}, []int{missed(first), missed(second), missed(l.Mark(t.Context()))})
	for range mostRecent / 10 {
		pass(10)
	}
	require.Equal(t, []int{-1, -1, 0}, []int{missed(first), missed(second), missed(l.Mark(t.Context()))}, "more has changed than is kept")
	oldest := fmt.Sprintf("%s.%d", l.era, l.from)
	require.Equal(t, mostRecent, missed(oldest))
	pass(1)
	require.Equal(t, -1, missed(oldest), "a window that is kept in part")
	l.begin()
	require.Equal(t, -1, missed(oldest), "changes may have been missed between two readings")
}
