package audit

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps the audit log.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs:     append(r.jobs(), reread.Job(r.DB)),
		Gauges:   streamGauges,
		Follows:  []bus.Follow{{Topic: proto.AuditTopic, Handle: bus.On(proto.KindAudit, r.onAudit)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"audit": app.People, "audit_stream": app.Nobody, "audit_unsent": app.Nobody}, Forget: forget},
	}
}

// Operations declares the operations of the audit log.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "find-audit-entries", Route: "GET /audit-log", Perm: auth.ManageIntegrations, Doc: "List the audit log, newest first, by who did what, when, to which record, through which channel, and the outcome.",
		Use: "Use it to find who did what, and through which channel. Answers with one page and next_cursor; entries are kept for a year."}, find)
	op.AddDownload(set, op.Op{ID: "export-audit-log", Route: "GET /exports/audit-log.csv", Perm: auth.ManageIntegrations, Audited: true, Record: "audit_log",
		Doc: "Export the audit log as CSV, with the filters of find-audit-entries. The export is itself recorded.",
		Use: "Use it for a file that the person asked for; to read, find-audit-entries is better. Answers with the CSV as text, at most 4 MiB."}, exportLog)
}
