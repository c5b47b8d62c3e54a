package panel

import (
	"math"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// figure is a number that is kept for the last hour.
type figure int

// The figures. Those of the database are the same at every replica.
const (
	lag figure = iota
	lagSeconds
	partitions
	tableAge
	parked
	outboxWaiting
	outboxAge
	outboxRows
	relayErrors
	poolUsed
	poolIdle
	poolMax
	poolWaiting
	memory
	heap
	goroutines
	processor
	streams
	mailsWaiting
	mailsAge
	webhooksWaiting
	webhooksAge
	webhooksPaused
	attemptsDelivered
	attemptsFailed
	submissionsPending
	submissionsAge
	importsOpen
	importRows
	remindersOverdue
	unanswered
	jobErrors
	unserved
	figures // how many there are
)

// across is how the numbers of several replicas, or of several labels, become one.
type across bool

const (
	sum     across = false
	largest across = true
)

// measure is where a figure comes from.
type measure struct {
	family       string
	label, value string // only the metrics with this label; all if it is empty
	labels       across // those of one process
	replicas     across
	rate         bool // the figure is the growth of a counter per second
}

var measures = [figures]measure{
	lag:                {family: "frontdesk_consumer_lag"},
	lagSeconds:         {family: "frontdesk_consumer_lag_seconds", labels: largest, replicas: largest},
	partitions:         {family: "frontdesk_consumer_partitions"},
	tableAge:           {family: "frontdesk_table_age_seconds", labels: largest, replicas: largest},
	parked:             {family: "frontdesk_parked", replicas: largest},
	outboxWaiting:      {family: "frontdesk_outbox_waiting", replicas: largest},
	outboxAge:          {family: "frontdesk_outbox_age_seconds", replicas: largest},
	outboxRows:         {family: "frontdesk_outbox_rows", replicas: largest},
	relayErrors:        {family: "frontdesk_relay_errors_total", rate: true},
	poolUsed:           {family: "db_client_connection_count", label: "db_client_connection_state", value: "used"},
	poolIdle:           {family: "db_client_connection_count", label: "db_client_connection_state", value: "idle"},
	poolMax:            {family: "db_client_connection_max"},
	poolWaiting:        {family: "db_client_connection_pending_requests"},
	memory:             {family: "process_resident_memory_bytes"},
	heap:               {family: "go_memstats_heap_alloc_bytes"},
	goroutines:         {family: "go_goroutines"},
	processor:          {family: "process_cpu_seconds_total", rate: true},
	streams:            {family: "frontdesk_streams_open"},
	mailsWaiting:       {family: "frontdesk_mail_waiting", replicas: largest},
	mailsAge:           {family: "frontdesk_mail_age_seconds", replicas: largest},
	webhooksWaiting:    {family: "frontdesk_webhook_waiting", replicas: largest},
	webhooksAge:        {family: "frontdesk_webhook_age_seconds", replicas: largest},
	attemptsDelivered:  {family: "frontdesk_webhook_attempt_seconds", label: "outcome", value: "delivered", rate: true},
	attemptsFailed:     {family: "frontdesk_webhook_attempt_seconds", label: "outcome", value: "failed", rate: true},
	webhooksPaused:     {family: "frontdesk_webhook_paused", replicas: largest},
	submissionsPending: {family: "frontdesk_forms_pending", replicas: largest},
	submissionsAge:     {family: "frontdesk_forms_pending_age_seconds", replicas: largest},
	importsOpen:        {family: "frontdesk_import_files", replicas: largest},
	importRows:         {family: "frontdesk_import_rows_left", replicas: largest},
	remindersOverdue:   {family: "frontdesk_booking_reminders_overdue", replicas: largest},
	unanswered:         {family: "frontdesk_booking_unanswered", replicas: largest},
	unserved:           {family: "frontdesk_gateway_answers_total", rate: true},
	jobErrors:          {family: "frontdesk_job_errors_total", rate: true},
}

// read returns the number that a process shows for m; NaN if it shows none.
func (m measure) read(families map[string]*dto.MetricFamily) float64 {
	v := math.NaN()
	for _, x := range families[m.family].GetMetric() {
		if m.label == "" || labelOf(x, m.label) == m.value {
			v = m.labels.merge(v, number(x))
		}
	}
	return v
}

// merge returns one number of two. NaN stands for none.
func (a across) merge(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	case a == largest:
		return max(x, y)
	}
	return x + y
}

// number is the value of a counter or gauge, and how many a histogram has measured.
func number(m *dto.Metric) float64 {
	switch {
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return m.GetUntyped().GetValue()
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// outcome is what became of a request.
type outcome int

const (
	done    outcome = iota
	refused         // for a reason that the caller can mend
	failed
	outcomes // how many there are
)

// calls is where a process shows its requests: a histogram of seconds by operation and outcome.
type calls struct {
	family, operation string
	outcome           func(*dto.Metric) outcome
}

var (
	callsOfServices = calls{"frontdesk_op_seconds", "op", func(m *dto.Metric) outcome {
		switch labelOf(m, "code") {
		case "ok":
			return done
		case "svc_internal", "svc_unavailable":
			return failed
		}
		return refused
	}}
	callsOfTraefik = calls{"traefik_service_request_duration_seconds", "service", func(m *dto.Metric) outcome {
		switch code := labelOf(m, "code"); {
		case strings.HasPrefix(code, "5"):
			return failed
		case strings.HasPrefix(code, "4"):
			return refused
		}
		return done
	}}
)

// Controller and Traefik are the names of the two processes of the gateway among the services.
const (
	Controller = "gateway"
	Traefik    = "traefik"
)

// callsOf says where the processes of a service show their requests; the controller has none that are measured.
func callsOf(service string) calls {
	switch service {
	case Controller:
		return calls{}
	case Traefik:
		return callsOfTraefik
	}
	return callsOfServices
}

// eventFamily is the histogram of the seconds from an event to its effect, waitFamily that of the seconds for which a transaction
// waited for a connection.
const (
	eventFamily = "frontdesk_event_seconds"
	waitFamily  = "db_client_connection_wait_time_seconds"
)
