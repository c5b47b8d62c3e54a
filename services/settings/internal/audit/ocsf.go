package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/lines"
	"frontdesk/libs/version"
)

// ocsfVersion is the version of the Open Cybersecurity Schema Framework that ocsf keeps to.
const ocsfVersion = "1.6.0"

// An entry is an event of the class API Activity: somebody called an operation, which changed a record or was refused.
const (
	apiActivity         = 6003
	applicationActivity = 6
)

// activities are the kinds of API Activity that the first word of an action means. Any other action is of the kind 99, Other, and names itself.
var activities = map[string]activity{
	"create": created, "add": created, "book": created, "invite": created, "duplicate": created, "upload": created, "submit": created,
	"find": read, "get": read, "list": read, "export": read,
	"update": updated, "set": updated, "change": updated, "merge": updated, "link": updated, "unlink": updated, "restore": updated, "reschedule": updated, "confirm": updated,
	"decline": updated, "cancel": updated, "complete": updated, "mark": updated, "regenerate": updated, "reset": updated, "reopen": updated, "bulk": updated,
	"delete": deleted, "remove": deleted, "archive": deleted, "erase": deleted, "revoke": deleted, "end": deleted,
}

type activity struct {
	id   int
	name string
}

var (
	created = activity{1, "Create"}
	read    = activity{2, "Read"}
	updated = activity{3, "Update"}
	deleted = activity{4, "Delete"}
)

// ocsfEvent is an entry as OCSF has it: all attributes that the class requires, and those of the recommended ones that an entry knows.
type ocsfEvent struct {
	ActivityID   int            `json:"activity_id"`
	ActivityName string         `json:"activity_name"`
	CategoryUID  int            `json:"category_uid"`
	CategoryName string         `json:"category_name"`
	ClassUID     int            `json:"class_uid"`
	ClassName    string         `json:"class_name"`
	TypeUID      int            `json:"type_uid"`
	TypeName     string         `json:"type_name"`
	Time         int64          `json:"time"`
	SeverityID   int            `json:"severity_id"`
	Severity     string         `json:"severity"`
	StatusID     int            `json:"status_id"`
	Status       string         `json:"status"`
	Message      string         `json:"message"`
	Metadata     ocsfMetadata   `json:"metadata"`
	Actor        ocsfActor      `json:"actor"`
	API          ocsfAPI        `json:"api"`
	Source       ocsfEndpoint   `json:"src_endpoint"`
	Destination  ocsfEndpoint   `json:"dst_endpoint"`
	Resources    []ocsfResource `json:"resources,omitempty"`
	Unmapped     ocsfUnmapped   `json:"unmapped"`
}

type ocsfMetadata struct {
	Version      string      `json:"version"`
	UID          string      `json:"uid"`
	EventCode    string      `json:"event_code"`
	LogName      string      `json:"log_name"`
	OriginalTime string      `json:"original_time"`
	Product      ocsfProduct `json:"product"`
}

type ocsfProduct struct {
	Name       string `json:"name"`
	VendorName string `json:"vendor_name"`
	Version    string `json:"version"`
}

type ocsfActor struct {
	AppName string    `json:"app_name"`
	User    *ocsfUser `json:"user,omitempty"`
}

type ocsfUser struct {
	UID    string `json:"uid,omitempty"`
	Name   string `json:"name,omitempty"`
	TypeID int    `json:"type_id"`
	Type   string `json:"type"`
}

type ocsfAPI struct {
	Operation string      `json:"operation"`
	Service   ocsfService `json:"service"`
	Version   string      `json:"version"`
}

type ocsfService struct {
	Name string `json:"name"`
}

type ocsfEndpoint struct {
	IP       string `json:"ip,omitempty"`
	Name     string `json:"name,omitempty"`
	Hostname string `json:"hostname,omitempty"`
}

type ocsfResource struct {
	Type string `json:"type"`
	UID  string `json:"uid,omitempty"`
}

// ocsfUnmapped is what OCSF has no attribute for.
type ocsfUnmapped struct {
	Channel string         `json:"channel"`
	Outcome string         `json:"outcome"`
	Changes map[string]any `json:"changes,omitempty"`
	// Approval and ApprovedBy are of a call that waited for a person.
	Approval   *uuid.UUID `json:"approval_id,omitempty"`
	ApprovedBy *int64     `json:"approved_by,omitempty"`
}

// ocsf is the line of an entry of the installation at publicURL. It holds what GET /audit-log shows of the entry, and nothing else.
func ocsf(e auditEntry, publicURL string) (lines.Line, error) {
	word, _, _ := strings.Cut(e.Action, "-")
	kind, known := activities[word]
	if !known {
		kind = activity{99, e.Action}
	}
	here := ocsfEndpoint{Name: "frontdesk"}
	if u, err := url.Parse(publicURL); err == nil {
		here.Hostname = u.Hostname()
	}
	event := ocsfEvent{ActivityID: kind.id, ActivityName: kind.name, CategoryUID: applicationActivity, CategoryName: "Application Activity",
		ClassUID: apiActivity, ClassName: "API Activity", TypeUID: apiActivity*100 + kind.id, TypeName: "API Activity: " + kind.name,
		Time: e.CreatedAt.UnixMilli(), SeverityID: 1, Severity: "Informational", StatusID: 1, Status: "Success",
		Metadata: ocsfMetadata{Version: ocsfVersion, UID: e.ID.String(), EventCode: e.Action, LogName: "audit", OriginalTime: e.CreatedAt.UTC().Format(time.RFC3339),
			Product: ocsfProduct{"Frontdesk", "Frontdesk", version.Number}},
		Actor: ocsfActor{AppName: e.Channel}, API: ocsfAPI{e.Action, ocsfService{"Frontdesk"}, "v1"}, Destination: here,
		Unmapped: ocsfUnmapped{e.Channel, e.Outcome, e.Changes, e.ApprovalID, e.ApprovedBy}}
	refused := e.Outcome == "refused"
	if refused {
		event.SeverityID, event.Severity, event.StatusID, event.Status = 2, "Low", 2, "Failure"
	}
	switch {
	case e.UserID != nil:
		event.Actor.User = &ocsfUser{strconv.FormatInt(*e.UserID, 10), e.ActorLabel, 1, "User"}
	case e.ActorLabel != "": // a visitor, or what works by itself
		event.Actor.User = &ocsfUser{"", e.ActorLabel, 99, "Other"}
	}
	event.Source = ocsfEndpoint{IP: e.Address}
	if e.Address == "" {
		event.Source.Name = e.Channel
	}
	if e.RecordType != "" {
		event.Resources = []ocsfResource{{e.RecordType, e.RecordID}}
	}
	event.Message = e.Action + " by " + cmp.Or(e.ActorLabel, e.Channel) + ": " + e.Outcome
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(event)
	return lines.Line{At: e.CreatedAt, Text: bytes.TrimSuffix(text.Bytes(), []byte("\n")), Notice: refused}, err
}
