package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/lines"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// streaming is the room with a stream to a file in a folder that is not there yet.
type streaming struct {
	*apptest.Service
	t    *testing.T
	room *Room
	path string
}

func startStreaming(t *testing.T) streaming {
	t.Helper()
	s := streaming{t: t, path: filepath.Join(t.TempDir(), "log", "audit.jsonl")}
	s.Service = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		var err error
		k.Config.Audit, err = lines.Parse("file:"+s.path, "")
		require.NoError(t, err)
		s.room = New(k)
		s.room.Operations(set)
		parts := s.room.Parts()
		require.Equal(t, "audit-stream", parts.Jobs[0].Name)
		parts.Jobs = nil // the test runs it
		return []app.Room{{Name: "audit", Parts: parts}}
	})
	return s
}

func (s streaming) did(label string, a *proto.Audit) {
	s.t.Helper()
	a.RecordType, a.Outcome = "contact", "done"
	s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "booking", Label: label}, Data: a})
	s.Settle()
}

// sent are the lines in the file.
func (s streaming) sent() (all []ocsfEvent) {
	s.t.Helper()
	text, err := os.ReadFile(s.path)
	require.NoError(s.t, err)
	for line := range strings.Lines(string(text)) {
		var e ocsfEvent
		require.NoError(s.t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

func TestEachAuditEntryGoesToTheStreamOnceItIsThere(t *testing.T) {
	t.Parallel()
	s := startStreaming(t)
	s.did("Before", &proto.Audit{Action: "create-contact"})
	require.NoError(t, s.room.stream(t.Context()), "nothing was wanted yet")
	s.did("Ann Leaves", &proto.Audit{Action: "create-contact", Address: "192.0.2.1", Changes: []byte(`{"email":{"old":null,"new":"…"}}`)})
	s.did("Bob", &proto.Audit{Action: "update-contact"})
	require.Error(t, s.room.stream(t.Context()), "there is no such folder")

	// What waits is erased like the log.
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: &proto.ForgetPerson{Called: [][]byte{s.Kit.Keys.Person("Ann Leaves")}}})
	s.Settle()
	require.NoError(t, os.Mkdir(filepath.Dir(s.path), 0o700))
	require.NoError(t, s.room.stream(t.Context()))
	sent := s.sent()
	require.Len(t, sent, 2)
	require.Equal(t, []string{"create-contact", "update-contact"}, []string{sent[0].API.Operation, sent[1].API.Operation})
	require.Nil(t, sent[0].Actor.User)
	require.Equal(t, ocsfEndpoint{Name: "booking"}, sent[0].Source)
	require.Equal(t, "Bob", sent[1].Actor.User.Name)

	require.NoError(t, s.room.stream(t.Context()))
	require.Len(t, s.sent(), 2, "none twice")
	require.NoError(t, os.Rename(s.path, s.path+".1"))
	for range streamBatch + 1 {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "api"}, Data: &proto.Audit{Action: "update-contact", Outcome: "done"}})
	}
	s.Settle()
	require.NoError(t, s.room.stream(t.Context()))
	require.Len(t, s.sent(), streamBatch+1, "a file that was rotated is made anew, and a run goes on until nothing waits")
}

func TestAnEntryWhoseLineWasNotNotedGoesAgain(t *testing.T) {
	t.Parallel()
	s := startStreaming(t)
	require.NoError(t, os.Mkdir(filepath.Dir(s.path), 0o700))
	require.NoError(t, s.room.stream(t.Context()))
	s.did("Ann", &proto.Audit{Action: "create-contact"})
	s.did("Bob", &proto.Audit{Action: "create-contact"})
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'away'; end $$;
		create trigger refuse before delete on audit_unsent execute function refuse()`)
	require.NoError(t, err)
	require.Error(t, s.room.stream(t.Context()))
	_, err = s.Kit.DB.Pool.Exec(t.Context(), `drop trigger refuse on audit_unsent`)
	require.NoError(t, err)
	require.NoError(t, s.room.stream(t.Context()))
	sent := s.sent()
	require.Len(t, sent, 4)
	require.Equal(t, sent[:2], sent[2:])
}

func TestWithoutAStreamNothingWaits(t *testing.T) {
	t.Parallel()
	s := startStreaming(t)
	waiting := func() (n int) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from audit_unsent`).Scan(&n))
		return n
	}
	s.did("Ann", &proto.Audit{Action: "create-contact"})
	require.Equal(t, 0, waiting())
	require.NoError(t, s.room.stream(t.Context()))
	s.did("Ann", &proto.Audit{Action: "create-contact"})
	require.Equal(t, 1, waiting())
	s.Travel(wantedFor + time.Hour)
	s.did("Ann", &proto.Audit{Action: "create-contact"})
	require.Equal(t, 1, waiting(), "nobody has asked for a week")
}

// The attributes that the class API Activity and its objects require, by the schema of OCSF.
func TestALineHasWhatTheClassRequires(t *testing.T) {
	t.Parallel()
	user := int64(7)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	full := auditEntry{ID: uuid.New(), Action: "delete-contact", Channel: "api", ActorLabel: "key <of> Ann", UserID: &user, RecordType: "contact", RecordID: "9", Outcome: "refused", Address: "2001:db8::1",
		Changes: map[string]any{"name": map[string]any{"old": "a", "new": "b"}}, CreatedAt: at}
	for _, e := range []auditEntry{full, {ID: uuid.New(), Action: "forgot-password", Channel: "system", Outcome: "done", CreatedAt: at}} {
		line, err := ocsf(e, "https://desk.example.com:8443")
		require.NoError(t, err)
		require.NotContains(t, string(line.Text), "\n")
		require.Equal(t, at, line.At)
		require.Equal(t, e.Outcome == "refused", line.Notice)
		var v map[string]any
		require.NoError(t, json.Unmarshal(line.Text, &v))
		for _, path := range []string{"activity_id", "category_uid", "class_uid", "type_uid", "time", "severity_id", "metadata.version", "metadata.product.name", "metadata.product.vendor_name", "actor.app_name",
			"api.operation", "api.service.name", "src_endpoint", "status_id"} {
			var at any = v
			for key := range strings.SplitSeq(path, ".") {
				at = at.(map[string]any)[key]
			}
			require.NotEmpty(t, at, path)
		}
		require.EqualValues(t, 6003, v["class_uid"])
		require.EqualValues(t, 600300+v["activity_id"].(float64), v["type_uid"])
		require.EqualValues(t, at.UnixMilli(), v["time"])
		require.Equal(t, e.ID.String(), v["metadata"].(map[string]any)["uid"])
		require.Equal(t, map[string]any{"name": "frontdesk", "hostname": "desk.example.com"}, v["dst_endpoint"])
	}
	line, err := ocsf(full, "https://desk.example.com")
	require.NoError(t, err)
	var got ocsfEvent
	require.NoError(t, json.Unmarshal(line.Text, &got))
	require.Equal(t, "Delete", got.ActivityName)
	require.Equal(t, "Failure", got.Status)
	require.Equal(t, &ocsfUser{"7", "key <of> Ann", 1, "User"}, got.Actor.User)
	require.Equal(t, ocsfEndpoint{IP: "2001:db8::1"}, got.Source)
	require.Equal(t, []ocsfResource{{"contact", "9"}}, got.Resources)
	require.Equal(t, full.Changes, got.Unmapped.Changes)
	require.Contains(t, string(line.Text), "<of>")
}
