package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// TestNothingAcknowledgedIsLostOrDoneTwice kills each process in turn in the middle of 200 submissions,
// whose senders repeat what was not acknowledged under the same key. On Apache Kafka a service that publishes and consumes stands for the
// others, which all do so by libs/bus.
//
//e2e:broker
func TestNothingAcknowledgedIsLostOrDoneTwice(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	token := d.FormToken(t)
	system.Wait()
	victims := []string{"contacts", "forms", "webhooks", "settings", "booking", "kafka", "postgres"}
	if os.Getenv("SVC_KAFKA") == "apache" {
		victims = []string{"contacts", "kafka", "postgres"}
	}
	for _, victim := range victims {
		t.Run(victim, func(t *testing.T) {
			const count = 200
			mark := uuid.NewString()[:8] // in every address of this victim
			sent := make([]string, count)
			work := make(chan int, count)
			for i := range count {
				sent[i] = fmt.Sprintf("s%03d.%s@example.com", i, mark)
				work <- i
			}
			close(work)
			var senders sync.WaitGroup
			half := make(chan struct{})
			for range 8 {
				senders.Go(func() {
					for i := range work {
						if i == count/4 {
							close(half)
						}
						key := uuid.NewString()
						for until := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
							a, err := visitor.With("Idempotency-Key", key).Try(t.Context(), "POST", "/forms/"+d.Form+"/submit", d.Submission(token, sent[i]))
							if err == nil && a.Status == 200 {
								break
							}
							if err == nil && a.Status < 500 || time.Now().After(until) {
								t.Errorf("submission %d: %v %v", i, a, err)
								return
							}
						}
					}
				})
			}
			<-half
			sys.Kill(t, victim)
			senders.Wait()
			require.False(t, t.Failed())
			sys.Healthy(t)

			var total any
			system.Eventually(t, func() bool {
				a := d.Admin.Get(t, "/contacts?per_page=1&search="+mark)
				if a.Status == 200 {
					total = a.Field("total")
				}
				return total == float64(count)
			}, fmt.Sprintf("not every contact came: %v", total))
			perEmail := map[string]int{}
			pending := func() (n int) {
				perEmail = map[string]int{}
				for cursor := ""; ; {
					page := d.Admin.Get(t, "/submissions?per_page=100&form="+d.Form+"&cursor="+cursor).Is(200)
					for _, s := range page.Items() {
						email := emailOf(s)
						if !strings.Contains(email, mark) {
							continue
						}
						perEmail[email]++
						if result, _ := s["result"].(map[string]any); result["contact"] == "pending" {
							n++
						}
					}
					if cursor = page.Text("next_cursor"); cursor == "" {
						return n
					}
				}
			}
			system.Eventually(t, func() bool { return pending() == 0 }, "submissions are still pending")
			require.Len(t, perEmail, count)
			for email, n := range perEmail {
				require.Equal(t, 1, n, email)
			}
			submitted := func() map[string]int {
				return d.Hook.Events(func(e system.Received) bool {
					submission, _ := e.Data["submission"].(map[string]any)
					return strings.Contains(emailOf(submission), mark)
				})["form.submitted"]
			}
			system.Eventually(t, func() bool { return len(submitted()) >= count }, "not every webhook came")
			require.Len(t, submitted(), count)
		})
	}
}

// emailOf is the address that a submission, as the API answers it, was sent with.
func emailOf(submission map[string]any) string {
	values, _ := submission["values"].(map[string]any)
	email, _ := values["email"].(string)
	return email
}
