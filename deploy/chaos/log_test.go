package chaos

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/proto"
)

// A broker that did not flush loses its newest messages in a crash: the ends of its segments are cut off.
func TestTheBrokerLosesItsNewestMessages(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	cut := 0
	for range 2 {
		time.Sleep(lasts(15*time.Second, 4*time.Second))
		up := w.System.Down(t, "kafka", syscall.SIGKILL)
		cut += w.cutSegments(t, 5)
		up()
	}
	require.Positive(t, cut)
	took := w.Recovered(t, 2*time.Minute)
	w.Report(t, fmt.Sprintf("the broker loses its newest messages, %d batches", cut), l, took)
}

// cutSegments takes the last batches off each partition that a service publishes on, and returns how many it took. The broker
// does not run.
func (w *world) cutSegments(t *testing.T, last int) (cut int) {
	t.Helper()
	var segments []string
	require.NoError(t, filepath.WalkDir(filepath.Join(w.System.Data, "kafka"), func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".dat") && !strings.Contains(path, proto.PresenceTopic) {
			segments = append(segments, path)
		}
		return err
	}))
	require.NotEmpty(t, segments)
	for _, path := range segments {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var begins []int
		for pos := 0; pos+12 <= len(raw); pos += 12 + int(binary.BigEndian.Uint32(raw[pos+8:])) {
			begins = append(begins, pos)
		}
		if n := min(last, len(begins)-1); n > 0 {
			require.NoError(t, os.Truncate(path, int64(begins[len(begins)-n])))
			cut += n
		}
	}
	return cut
}

func TestTopicsAreDeletedUnderLoad(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	client, login, err := w.System.Now(t).Broker()
	require.NoError(t, err)
	from := time.Now()
	for _, topic := range []string{proto.IdentityTopic, proto.ContactTopic, proto.ContactsCommandTopic, proto.MailTopic, proto.AppsTopic} {
		time.Sleep(lasts(10*time.Second, 3*time.Second))
		res, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
		require.NoError(t, err)
		require.NoError(t, res.Errors[topic])
	}
	exist := func() bool {
		res, err := (&kafka.Client{Addr: client.Addr, Transport: login.Transport()}).Metadata(t.Context(), &kafka.MetadataRequest{})
		have := map[string]bool{}
		if err == nil {
			for _, topic := range res.Topics {
				have[topic.Name] = topic.Error == nil
			}
		}
		for _, topic := range proto.Topics {
			if !have[topic.Name] {
				return false
			}
		}
		return true
	}
	system.Eventually(t, exist, "every topic is made anew")
	took := w.Recovered(t, 2*time.Minute)
	require.Empty(t, l.Failed(from, time.Now()), "nobody is signed out, nothing is refused")
	w.Report(t, "five topics are deleted, among them the identities", l, took)
}
