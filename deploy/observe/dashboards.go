package observe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// source is the identifier of the data source that grafana/provisioning makes.
const source = "frontdesk-prometheus"

// board is a dashboard.
type board struct {
	uid, title string
	rows       []row
}

type row struct {
	title  string
	panels []panel
}

// panel draws queries over time.
type panel struct {
	title, unit string
	// doc says how to read it.
	doc     string
	queries []query
}

// query is one of Prometheus with the name of its lines, such as {{op}}.
type query struct{ expr, legend string }

func one(title, unit, expr, legend, doc string) panel {
	return panel{title, unit, doc, []query{{expr, legend}}}
}

// quantiles draws three of a histogram.
func quantiles(title, bucket, doc string) panel {
	p := panel{title: title, unit: units.Seconds, doc: doc}
	for _, q := range []string{"0.5", "0.95", "0.99"} {
		p.queries = append(p.queries, query{fmt.Sprintf(`histogram_quantile(%s, sum by (le) (rate(%s[$__rate_interval])))`, q, bucket), "p" + strings.TrimPrefix(strings.TrimPrefix(q, "0."), "0")})
	}
	return p
}

func dashboards() []board {
	all := []board{overview()}
	for _, s := range Services {
		all = append(all, service(s))
	}
	return all
}

func overview() board {
	promises := row{title: "Promises"}
	for _, o := range objectives {
		p := panel{title: o.name + ": burn rate", unit: units.NoUnit, doc: "How many times faster than allowed the budget of thirty days is used up. 1 uses it up exactly; 14.4 for an hour alerts."}
		for _, w := range windows {
			p.queries = append(p.queries, query{fmt.Sprintf("%s / %v", o.record(w), o.budget), strings.TrimSpace(span(w) + " " + label(o.by))})
		}
		promises.panels = append(promises.panels, p)
	}
	return board{"frontdesk-overview", "Frontdesk", []row{
		promises,
		{"Visitors", []panel{
			one("Requests", units.RequestsPerSecond, `sum by (service) (rate(frontdesk_op_seconds_count[$__rate_interval]))`, "{{service}}", "All operations, by service."),
			one("Answers at the edge", units.RequestsPerSecond, `sum by (code) (rate(traefik_entrypoint_requests_total{entrypoint=~"web|websecure"}[$__rate_interval]))`, "{{code}}", "What visitors get, by status: the gateway's own answers too."),
			one("Time of a request, p99", units.Seconds, `histogram_quantile(0.99, sum by (service, le) (rate(frontdesk_op_seconds_bucket[$__rate_interval])))`, "{{service}}", "Streams of events last as long as somebody listens."),
			one("Refusals", units.RequestsPerSecond, `sum by (code) (rate(frontdesk_op_seconds_count{code!="ok"}[$__rate_interval]))`, "{{code}}", "svc_rate_limited: limits that were hit; svc_slot_taken: times lost to somebody else; svc_unauthorized: wrong credentials."),
			one("Answered by no service", units.RequestsPerSecond, `sum by (code) (rate(frontdesk_gateway_answers_total[$__rate_interval]))`, "{{code}}", "svc_unavailable: no replica takes requests; svc_no_route: no such path."),
			one("Routes in force, p99", units.Seconds, `histogram_quantile(0.99, sum by (le) (frontdesk_gateway_apply_seconds_bucket))`, "since its start", "From a change of routes or apps until the gateway serves it. Changes are too rare for a rate."),
		}},
		{"Events", []panel{
			one("Commit to effect, p99", units.Seconds, `histogram_quantile(0.99, sum by (service, le) (rate(frontdesk_event_seconds_bucket[$__rate_interval])))`, "{{service}}", "By the service that has the effect."),
			one("Outbox: oldest message", units.Seconds, `max by (service) (frontdesk_outbox_age_seconds)`, "{{service}}", "Rises while the brokers do not answer."),
			one("Lag", units.Seconds, `max by (service) (frontdesk_consumer_lag_seconds)`, "{{service}}", "Age of the message that is being handled."),
			one("Parked messages", units.Short, `sum by (service) (max by (service, topic) (frontdesk_parked))`, "{{service}}", "They wait for an operator."),
			one("Webhook attempts", units.RequestsPerSecond, `sum by (outcome) (rate(frontdesk_webhook_attempt_seconds_count[$__rate_interval]))`, "{{outcome}}", ""),
			one("Mails that wait", units.Short, `max by (status) (frontdesk_mail_waiting)`, "{{status}}", ""),
		}},
		{"Processes", []panel{
			one("Replicas that answer", units.Short, `sum by (service) (up{job=~"frontdesk|traefik"})`, "{{service}}", ""),
			one("Processor time", units.Short, `sum by (service) (rate(process_cpu_seconds_total{job=~"frontdesk|traefik"}[$__rate_interval]))`, "{{service}}", "Processors in use."),
			one("Memory", units.BytesIEC, `sum by (service) (process_resident_memory_bytes{job=~"frontdesk|traefik"})`, "{{service}}", ""),
			one("Connections in use", units.PercentUnit, `sum by (service) (db_client_connection_count{db_client_connection_state="used"}) / sum by (service) (db_client_connection_max)`, "{{service}}", "Of the pools of all replicas."),
			one("Alerts", units.Short, `sum by (alertname, alertstate) (ALERTS) or vector(0)`, "{{alertname}} {{alertstate}}", "The runbook in deploy/README.md says what to do."),
		}},
	}}
}

// label is how a legend shows the labels of an objective.
func label(by map[string]string) string {
	if _, ok := by["service"]; ok {
		return "{{service}}"
	}
	return ""
}

func service(name string) board {
	of := func(rows []row) []row {
		for i := range rows {
			for j := range rows[i].panels {
				p := &rows[i].panels[j]
				for k := range p.queries {
					p.queries[k].expr = strings.ReplaceAll(p.queries[k].expr, "$s", `service="`+name+`"`)
				}
			}
		}
		return rows
	}
	rows := []row{
		{"Requests", []panel{
			one("Requests", units.RequestsPerSecond, `sum by (op) (rate(frontdesk_op_seconds_count{$s}[$__rate_interval]))`, "{{op}}", "By operation."),
			one("Refusals and errors", units.RequestsPerSecond, `sum by (op, code) (rate(frontdesk_op_seconds_count{$s,code!="ok"}[$__rate_interval]))`, "{{op}} {{code}}", "svc_internal and svc_unavailable are errors; the others are refusals."),
			one("Time by operation, p50", units.Seconds, `histogram_quantile(0.5, sum by (op, le) (rate(frontdesk_op_seconds_bucket{$s}[$__rate_interval])))`, "{{op}}", ""),
			one("Time by operation, p95", units.Seconds, `histogram_quantile(0.95, sum by (op, le) (rate(frontdesk_op_seconds_bucket{$s}[$__rate_interval])))`, "{{op}}", ""),
			one("Time by operation, p99", units.Seconds, `histogram_quantile(0.99, sum by (op, le) (rate(frontdesk_op_seconds_bucket{$s}[$__rate_interval])))`, "{{op}}", "Points are exemplars: each leads to its trace."),
			one("By channel", units.RequestsPerSecond, `sum by (channel) (rate(frontdesk_op_seconds_count{$s}[$__rate_interval]))`, "{{channel}}", "The app, the API, visitors' pages, assistants."),
		}},
		{"Own work", own[name]},
		{"Events", []panel{
			quantiles("Commit to effect", `frontdesk_event_seconds_bucket{$s}`, "Of changes elsewhere, from their commit on."),
			one("Events", units.Short, `sum by (topic) (rate(frontdesk_event_seconds_count{$s}[$__rate_interval]))`, "{{topic}}", "Handled in a second."),
			one("Lag, messages", units.Short, `sum by (topic) (frontdesk_consumer_lag{$s})`, "{{topic}}", "Not handled yet, by all replicas."),
			one("Lag, seconds", units.Seconds, `max by (topic) (frontdesk_consumer_lag_seconds{$s})`, "{{topic}}", "Age of the message that is being handled."),
			one("Partitions", units.Short, `sum by (instance) (frontdesk_consumer_partitions{$s})`, "{{instance}}", "Each partition has one replica."),
			one("Dealt anew, lost logs", units.Short, `sum(increase(frontdesk_consumer_rebalances_total{$s}[$__rate_interval])) + sum(increase(frontdesk_position_resets_total{$s}[$__rate_interval]))`, "rebalances and resets", ""),
			one("Parked messages", units.Short, `max by (topic) (frontdesk_parked{$s})`, "{{topic}}", "They wait for an operator."),
			one("Parked since the start", units.Short, `sum by (topic) (frontdesk_consumer_parked_total{$s})`, "{{topic}}", ""),
			one("Refused messages", units.Short, `sum by (topic, reason) (frontdesk_messages_refused_total{$s})`, "{{topic}} {{reason}}", "Without the right signature, since the start."),
			one("Copies in memory: age", units.Seconds, `max by (topic) (frontdesk_table_age_seconds{$s})`, "{{topic}}", "Compared with their topics every ten seconds."),
			one("Copies in memory: whole", units.Short, `min by (topic) (frontdesk_table_whole{$s})`, "{{topic}}", "0 while the topic lacks messages."),
		}},
		{"Outbox", []panel{
			one("Waiting", units.Short, `max(frontdesk_outbox_waiting{$s})`, "messages", ""),
			one("Oldest", units.Seconds, `max(frontdesk_outbox_age_seconds{$s})`, "age", ""),
			one("Rows", units.Short, `max(frontdesk_outbox_rows{$s})`, "rows", "With those that were sent in the last ten minutes."),
			one("Rounds that failed", units.Short, `sum(increase(frontdesk_relay_errors_total{$s}[$__rate_interval]))`, "errors", ""),
		}},
		{"Database", []panel{
			{"Connections", units.Short, "Of all replicas.", []query{{`sum by (db_client_connection_state) (db_client_connection_count{$s})`, "{{db_client_connection_state}}"}, {`sum(db_client_connection_max{$s})`, "most"}}},
			one("Transactions that wait", units.Short, `sum(db_client_connection_pending_requests{$s})`, "waiting", "For a connection."),
			quantiles("Wait for a connection", `db_client_connection_wait_time_seconds_bucket{$s}`, ""),
			quantiles("Statements", `db_client_operation_duration_seconds_bucket{$s}`, "Time of the round trips to PostgreSQL."),
		}},
		{"Periodic work", []panel{
			one("Since the last success", units.Seconds, `time() - max by (exported_job) (frontdesk_job_success_seconds{$s})`, "{{exported_job}}", "Each is due every hour at least."),
			one("Failures", units.Short, `sum by (exported_job) (increase(frontdesk_job_errors_total{$s}[$__rate_interval]))`, "{{exported_job}}", ""),
		}},
		{"Process", []panel{
			one("Processor time", units.Short, `rate(process_cpu_seconds_total{$s}[$__rate_interval])`, "{{instance}}", "Processors in use."),
			one("Memory", units.BytesIEC, `process_resident_memory_bytes{$s}`, "{{instance}}", ""),
			one("Goroutines", units.Short, `go_goroutines{$s}`, "{{instance}}", ""),
			one("Collector: pauses", units.Seconds, `rate(go_gc_duration_seconds_sum{$s}[$__rate_interval])`, "{{instance}}", "Seconds of a second."),
		}},
	}
	return board{"frontdesk-" + name, "Frontdesk: " + name, of(rows)}
}

// own are the panels that a service alone has.
var own = map[string][]panel{
	"settings": {
		one("Sign-ins", units.RequestsPerSecond, `sum by (op, code) (rate(frontdesk_op_seconds_count{$s,op=~"sign-in|passkey-sign-in"}[$__rate_interval]))`, "{{op}} {{code}}", "svc_unauthorized: a wrong password or code; svc_rate_limited: too many attempts."),
		one("Mails that wait", units.Short, `max by (status) (frontdesk_mail_waiting{$s})`, "{{status}}", ""),
		{"Mails", units.Seconds, "", []query{{`max(frontdesk_mail_age_seconds{$s})`, "oldest that waits"}}},
		{"Audit stream", units.Seconds, "", []query{{`max(frontdesk_audit_stream_age_seconds{$s})`, "oldest that waits"}}},
		one("Mails of unknown outcome", units.Short, `max(frontdesk_mail_unknown{$s})`, "of the last day", "The process ended while it handed them over."),
		one("Open streams", units.Short, `sum by (op) (frontdesk_streams_open{$s})`, "{{op}}", "Of server-sent events."),
	},
	"contacts": {
		one("Imports", units.Short, `max by (status) (frontdesk_import_files{$s})`, "{{status}}", ""),
		one("Rows of imports in a second", units.Short, `sum by (outcome) (rate(frontdesk_import_rows_total{$s}[$__rate_interval]))`, "{{outcome}}", ""),
		one("Rows left", units.Short, `max(frontdesk_import_rows_left{$s})`, "rows", ""),
		one("Contacts in memory", units.Short, `max by (instance) (frontdesk_directory_contacts{$s})`, "{{instance}}", "0 while they are loaded."),
		one("Their memory", units.BytesIEC, `max by (instance) (frontdesk_directory_bytes{$s})`, "{{instance}}", ""),
		{"Changes in memory", units.Short, "Differences are what the hourly comparison repaired: there should be none.", []query{{`sum(rate(frontdesk_directory_changes_total{$s}[$__rate_interval]))`, "changes in a second"}, {`sum(frontdesk_directory_differences_total{$s})`, "differences"}}},
		one("Last load", units.Seconds, `max by (instance) (frontdesk_directory_load_seconds{$s})`, "{{instance}}", ""),
		aside(),
	},
	"booking": {
		one("Searches for free times", units.RequestsPerSecond, `sum by (outcome) (rate(frontdesk_booking_searches_total{$s}[$__rate_interval]))`, "{{outcome}}", ""),
		one("Booked, and lost to somebody else", units.RequestsPerSecond, `sum by (op, code) (rate(frontdesk_op_seconds_count{$s,op=~"book-.*|reschedule-.*"}[$__rate_interval]))`, "{{op}} {{code}}", "svc_slot_taken: the time was gone."),
		one("Reminders overdue", units.Short, `max(frontdesk_booking_reminders_overdue{$s})`, "reminders", ""),
		one("Connected calendars", units.Short, `max by (state) (frontdesk_booking_external_calendars{$s})`, "{{state}}", "Calendars of other programs that take people's time."),
		one("Readings of them", units.RequestsPerSecond, `sum by (outcome) (rate(frontdesk_booking_external_calendar_reads_total{$s}[$__rate_interval]))`, "{{outcome}}", ""),
		one("The one that waits longest", units.Seconds, `max(frontdesk_booking_external_calendars_late_seconds{$s})`, "late by", "A calendar is read every five minutes."),
		one("Appointments that wait for a calendar", units.Short, `max(frontdesk_booking_outgoing_events{$s})`, "waiting", "They are to be written into calendars that people have chosen, or removed there."),
		one("The one of them that waits longest", units.Seconds, `max(frontdesk_booking_outgoing_oldest_seconds{$s})`, "waiting for", ""),
		one("Writings", units.RequestsPerSecond, `sum by (outcome) (rate(frontdesk_booking_outgoing_writes_total{$s}[$__rate_interval]))`, "{{outcome}}", ""),
		one("Clients not confirmed by contacts", units.Short, `max(frontdesk_booking_unanswered{$s})`, "clients", ""),
		aside(),
	},
	"forms": {
		one("Submissions", units.RequestsPerSecond, `sum by (code) (rate(frontdesk_op_seconds_count{$s,op="submit-form"}[$__rate_interval]))`, "{{code}}", ""),
		one("Waiting for their contact", units.Short, `max(frontdesk_forms_pending{$s})`, "submissions", ""),
		one("Oldest of them", units.Seconds, `max(frontdesk_forms_pending_age_seconds{$s})`, "age", ""),
		aside(),
	},
	"webhooks": {
		one("Attempts", units.RequestsPerSecond, `sum by (outcome) (rate(frontdesk_webhook_attempt_seconds_count{$s}[$__rate_interval]))`, "{{outcome}}", ""),
		quantiles("Time of an attempt", `frontdesk_webhook_attempt_seconds_bucket{$s}`, "Receivers have five seconds."),
		one("Queue", units.Short, `max by (status) (frontdesk_webhook_waiting{$s})`, "{{status}}", ""),
		one("Oldest without an attempt", units.Seconds, `max(frontdesk_webhook_age_seconds{$s})`, "age", ""),
		one("Paused webhooks", units.Short, `max(frontdesk_webhook_paused{$s})`, "webhooks", ""),
		aside(),
	},
}

// aside draws the rows that a service's work went past; settings sets none aside.
func aside() panel {
	return one("Rows set aside", units.Short, `sum by (work) (frontdesk_aside_total{$s})`, "{{work}}", "The work failed on them and tries them again later; since the start.")
}

// json is the dashboard as Grafana imports it.
func (b board) json() ([]byte, error) {
	uid, kind := source, "prometheus"
	from := common.DataSourceRef{Type: &kind, Uid: &uid}
	d := dashboard.NewDashboardBuilder(b.title).Uid(b.uid).Tags([]string{"frontdesk"}).Refresh("30s").Time("now-1h", "now").Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Readonly().
		Link(dashboard.NewDashboardLinkBuilder("Frontdesk").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{"frontdesk"}).KeepTime(true))
	for _, r := range b.rows {
		d.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			drawn := timeseries.NewPanelBuilder().Title(p.title).Description(p.doc).Unit(p.unit).Min(0).Datasource(from).Span(8).Height(8).FillOpacity(5)
			for i, q := range p.queries {
				drawn.WithTarget(prometheus.NewDataqueryBuilder().Datasource(from).Expr(q.expr).LegendFormat(q.legend).RefId(string(rune('A' + i))).Range().
					Exemplar(strings.HasPrefix(q.expr, "histogram_quantile")))
			}
			d.WithPanel(drawn)
		}
	}
	made, err := d.Build()
	if err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(made, "", " ")
	return append(out, '\n'), err
}

// Queries are those of all dashboards, with the range that Grafana would put in.
func Queries(interval string) (all []string) {
	for _, b := range dashboards() {
		for _, r := range b.rows {
			for _, p := range r.panels {
				for _, q := range p.queries {
					all = append(all, strings.ReplaceAll(q.expr, "$__rate_interval", interval))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
