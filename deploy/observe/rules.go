package observe

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// RuleFile is a file of rules as Prometheus reads it.
type RuleFile struct {
	Groups []Group `yaml:"groups"`
}

// Group is rules that are evaluated together.
type Group struct {
	Name     string `yaml:"name"`
	Interval string `yaml:"interval,omitempty"`
	Rules    []Rule `yaml:"rules"`
}

// Rule records a query or alerts on it.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// groups are the names of the groups in the order of their evaluation: alerts read what was recorded.
var groups = []string{"frontdesk-objectives", "frontdesk"}

// Rules are all rules, by a clock.
func Rules(c Clock) RuleFile {
	var recorded, alerting Group
	recorded.Name, alerting.Name = groups[0], groups[1]
	for _, o := range objectives {
		for _, window := range windows {
			recorded.Rules = append(recorded.Rules, Rule{Record: o.record(window), Expr: c.scale(strings.ReplaceAll(o.bad, "$window", span(window)))})
		}
	}
	for _, a := range Alerts() {
		alerting.Rules = append(alerting.Rules, Rule{Alert: a.Name, Expr: c.scale(a.expr), For: span(c.of(a.lasts)), Labels: map[string]string{"severity": a.severity},
			Annotations: map[string]string{"summary": a.Summary, "runbook": a.Runbook}})
	}
	return RuleFile{[]Group{recorded, alerting}}
}

func span(d time.Duration) string { return model.Duration(d).String() }

var (
	ranges  = regexp.MustCompile(`\[([0-9a-z]+)\]`)
	seconds = regexp.MustCompile(`\{([0-9]+[smhd])\}`)
)

// scale sets the times of an expression: ranges in brackets, and in braces times that are compared with seconds.
func (c Clock) scale(expr string) string {
	parsed := func(text string) time.Duration {
		d, err := model.ParseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("%s in %s: %v", text, expr, err)) // a rule of this package
		}
		return c.of(time.Duration(d))
	}
	expr = ranges.ReplaceAllStringFunc(expr, func(m string) string { return "[" + span(parsed(m[1:len(m)-1])) + "]" })
	return seconds.ReplaceAllStringFunc(expr, func(m string) string {
		return strconv.FormatFloat(parsed(m[1:len(m)-1]).Seconds(), 'f', -1, 64)
	})
}

// objective is a promise about a share of all requests or events in thirty days.
type objective struct {
	name string
	// budget is the share that may be bad.
	budget float64
	// bad is the share that is bad within $window, and by the labels of that.
	bad string
	by  map[string]string // labels of its unit test
	// good and bad series of the unit test
	fine, broken [2]string
	summary      string
	runbook      string
}

// Streams and downloads last as long as somebody listens, and what is embedded in a page waits for another service.
const quick = `op!~"get-live|export-.*|download-.*|embed-.*|create-import|upload-media"`

var objectives = []objective{
	{name: "availability", budget: .001,
		bad:  `sum(rate(traefik_entrypoint_requests_total{entrypoint=~"web|websecure",code=~"5.."}[$window])) / sum(rate(traefik_entrypoint_requests_total{entrypoint=~"web|websecure"}[$window]))`,
		fine: [2]string{`traefik_entrypoint_requests_total{entrypoint="web",code="200"}`, "0+100x%d"}, broken: [2]string{`traefik_entrypoint_requests_total{entrypoint="web",code="503"}`, "0x%d 0+100x600"},
		summary: "Requests are answered with 5xx: the budget of 0.1 % in thirty days is being used up.",
		runbook: "Open the overview: which service has errors, or is down? Its log has the error under the trace id and the request id."},
	{name: "latency", budget: .01,
		bad: `1 - sum by (service) (rate(frontdesk_op_seconds_bucket{le="0.25",` + quick + `}[$window])) / sum by (service) (rate(frontdesk_op_seconds_count{` + quick + `}[$window]))`, by: map[string]string{"service": "booking"},
		fine: [2]string{`frontdesk_op_seconds_count{service="booking",op="list-services"}`, "0+100x%d 0+100x600"}, broken: [2]string{`frontdesk_op_seconds_bucket{service="booking",op="list-services",le="0.25"}`, "0+100x%d 0x600"},
		summary: "More than the allowed 1 % of a service's requests take longer than 250 ms.",
		runbook: "The service's dashboard: does one operation take long, or do all wait for connections? Compare with the waits for the pool and the processor time; add a replica if the processor is busy."},
	{name: "events", budget: .01,
		bad: `1 - sum by (service) (rate(frontdesk_event_seconds_bucket{le=~"5|5.0"}[$window])) / sum by (service) (rate(frontdesk_event_seconds_count[$window]))`, by: map[string]string{"service": "forms"},
		fine: [2]string{`frontdesk_event_seconds_count{service="forms",topic="contacts.contact"}`, "0+100x%d 0+100x600"}, broken: [2]string{`frontdesk_event_seconds_bucket{service="forms",topic="contacts.contact",le="5.0"}`, "0+100x%d 0x600"},
		summary: "More than the allowed 1 % of changes elsewhere take longer than five seconds to have their effect in a service.",
		runbook: "Look at the outbox of the sender and the lag of the reader: a growing outbox is the broker's or the sender's matter, a growing lag the reader's."},
}

// windows are those of the burn rates, the shortest first.
var windows = []time.Duration{5 * time.Minute, 30 * time.Minute, time.Hour, 6 * time.Hour, 72 * time.Hour}

func (o objective) record(window time.Duration) string {
	return "frontdesk:" + o.name + "_bad:ratio_rate" + span(window)
}

// burn is a rate at which a budget is used up, over a long window, and over a short one so that the alert ends soon after its cause.
type burn struct {
	name, severity string
	factor         float64
	long, short    time.Duration
}

// As in the Site Reliability Workbook: 2 % of the budget in an hour, 5 % in six, 10 % in three days.
var burns = []burn{
	{"Fast", "page", 14.4, time.Hour, 5 * time.Minute},
	{"Steadily", "page", 6, 6 * time.Hour, 30 * time.Minute},
	{"Slowly", "ticket", 1, 72 * time.Hour, 6 * time.Hour},
}

// Alert is an alert with its row of the runbook.
type Alert struct {
	Name, Summary, Runbook string

	severity, expr string
	lasts          time.Duration
	// test is its unit test: series, with the fault in them, a time before it and a time at which the alert fires with labels.
	test unitTest
}

type unitTest struct {
	series       [][2]string
	quiet, fires string
	slow         bool // takes days
	labels       map[string]string
}

// begins makes the unit test of a figure that is in order for ten minutes and not after that.
func begins(series, before, after string, labels ...string) unitTest {
	t := unitTest{series: [][2]string{{series, before + "x10 " + after + "x60"}}, quiet: "10m", fires: "40m", labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		t.labels[labels[i]] = labels[i+1]
	}
	return t
}

// Alerts are all alerts.
func Alerts() []Alert {
	all := slices.Clone(causes)
	for _, o := range objectives {
		for _, b := range burns {
			limit := strconv.FormatFloat(b.factor*o.budget, 'f', -1, 64)
			minutes := int((b.long + b.long/2).Minutes())
			all = append(all, Alert{Name: "Frontdesk" + strings.ToUpper(o.name[:1]) + o.name[1:] + "Burns" + b.name, severity: b.severity,
				expr:    o.record(b.long) + " > " + limit + " and " + o.record(b.short) + " > " + limit,
				Summary: o.summary, Runbook: o.runbook,
				test: unitTest{series: [][2]string{{o.fine[0], fill(o.fine[1], minutes)}, {o.broken[0], fill(o.broken[1], minutes)}},
					quiet: fmt.Sprintf("%dm", minutes), fires: fmt.Sprintf("%dm", minutes+min(590, int(max(b.long/3, b.short).Minutes()))), labels: o.by, slow: b.long > 24*time.Hour}})
		}
	}
	return all
}

func fill(values string, minutes int) string {
	return strings.ReplaceAll(values, "%d", strconv.Itoa(minutes))
}

// causes are alerts on what the promises depend on.
var causes = []Alert{
	{Name: "FrontdeskProcessDown", severity: "page", lasts: time.Minute,
		expr:    `up{job=~"frontdesk|traefik"} == 0`,
		Summary: "A process does not answer on its admin port.",
		Runbook: "Is it running? Its log ends with the reason. /readyz of its admin port says what it waits for. It starts by itself once its database and brokers answer.",
		test:    begins(`up{job="frontdesk",service="booking",instance="booking:9000"}`, "1", "0", "job", "frontdesk", "service", "booking", "instance", "booking:9000")},
	{Name: "FrontdeskNoServiceAnswers", severity: "page", lasts: 2 * time.Minute,
		expr:    `sum(rate(frontdesk_gateway_answers_total{code="svc_unavailable"}[5m])) > 0`,
		Summary: "The gateway answers 503 itself, because no replica of a service takes requests.",
		Runbook: "FrontdeskProcessDown names the process, or /readyz of its admin port what it waits for. The gateway's page lists which service has which instances.",
		test:    begins(`frontdesk_gateway_answers_total{code="svc_unavailable",service="gateway"}`, "0", "0+10")},
	{Name: "FrontdeskOutboxStuck", severity: "page", lasts: 2 * time.Minute,
		expr:    `max by (service) (frontdesk_outbox_age_seconds) > {60s}`,
		Summary: "Changes of a service are committed and do not reach Kafka.",
		Runbook: "Do the brokers answer, and is their disk full? The log of the service says why the relay fails. Nothing is lost: it sends once it can.",
		test:    begins(`frontdesk_outbox_age_seconds{service="forms",instance="a"}`, "0", "90", "service", "forms")},
	{Name: "FrontdeskRelayFails", severity: "ticket", lasts: 5 * time.Minute,
		expr:    `sum by (service) (rate(frontdesk_relay_errors_total[5m])) > 0`,
		Summary: "Rounds of a service's relay fail again and again.",
		Runbook: "The log of the service has the error: a broker that does not answer, a right that the user at the brokers lacks (local provision-kafka gives it), a topic that has other settings.",
		test:    begins(`frontdesk_relay_errors_total{service="forms",instance="a"}`, "0", "0+10", "service", "forms")},
	{Name: "FrontdeskConsumerBehind", severity: "page", lasts: 5 * time.Minute,
		expr:    `max by (service, topic) (frontdesk_consumer_lag_seconds) > {60s}`,
		Summary: "A service handles messages of a topic that are older than a minute.",
		Runbook: "Is one message retried (the log names it), or are there too many? A message that fails for its own sake is parked after seconds. Too many: add replicas, up to the number of partitions.",
		test:    begins(`frontdesk_consumer_lag_seconds{service="forms",topic="contacts.contact",partition="0"}`, "0", "90", "service", "forms", "topic", "contacts.contact")},
	{Name: "FrontdeskMessagesParked", severity: "ticket",
		expr:    `max by (service, topic) (frontdesk_parked) > 0`,
		Summary: "Messages could not be handled and wait for an operator.",
		Runbook: "GET /parked of the service's admin port has the error of each. Mend the cause, then POST /parked/{id}/replay.",
		test:    begins(`frontdesk_parked{service="forms",topic="contacts.contact"}`, "0", "3", "service", "forms", "topic", "contacts.contact")},
	{Name: "FrontdeskLogLost", severity: "page",
		expr:    `sum by (service, topic) (increase(frontdesk_position_resets_total[15m])) > 0`,
		Summary: "A topic lost messages or was made anew. The service reads it again from its first message.",
		Runbook: "Find out what happened to the brokers: a deleted topic, a lost disk, a replica behind. The owners publish what is missing by themselves; FrontdeskTableNotWhole ends when they have.",
		test:    begins(`frontdesk_position_resets_total{service="forms",topic="contacts.contact"}`, "0", "1", "service", "forms", "topic", "contacts.contact").at("15m")},
	{Name: "FrontdeskTableNotWhole", severity: "ticket", lasts: 5 * time.Minute,
		expr:    `min by (service, topic) (frontdesk_table_whole) == 0`,
		Summary: "A copy in memory lacks messages that its topic has lost.",
		Runbook: "Start the owner of the topic: it publishes its state again. Until then the service works with the copy it has.",
		test:    begins(`frontdesk_table_whole{service="forms",topic="settings.site"}`, "1", "0", "service", "forms", "topic", "settings.site")},
	{Name: "FrontdeskTableStale", severity: "page",
		expr:    `max by (service, topic) (frontdesk_table_age_seconds) > {15m}`,
		Summary: "A copy in memory was not compared with its topic for a quarter of an hour: people and keys that were revoked since still work there.",
		Runbook: "Do the brokers answer this replica? Its log says why not. A replica that is cut off is best stopped.",
		test:    begins(`frontdesk_table_age_seconds{service="forms",topic="settings.identity"}`, "5", "1000", "service", "forms", "topic", "settings.identity")},
	{Name: "FrontdeskMessagesRefused", severity: "page",
		expr:    `sum by (service, topic, reason) (increase(frontdesk_messages_refused_total[15m])) > 0`,
		Summary: "Messages were refused, because they do not carry the signature of their owner.",
		Runbook: "Were keys changed, and does SVC_PUBLIC_KEYS of this service lack the new one? Otherwise somebody writes to Kafka who must not: the log has topic, partition and offset.",
		test:    begins(`frontdesk_messages_refused_total{service="forms",topic="settings.apps",reason="forged"}`, "0", "1", "service", "forms", "topic", "settings.apps", "reason", "forged").at("15m")},
	{Name: "FrontdeskPoolExhausted", severity: "page", lasts: 5 * time.Minute,
		expr:    `histogram_quantile(0.95, sum by (service, le) (rate(db_client_connection_wait_time_seconds_bucket[5m]))) > 0.5`,
		Summary: "Transactions of a service wait more than half a second for a connection to PostgreSQL.",
		Runbook: "What holds the connections? pg_stat_activity shows long statements and who waits for which lock. More connections help only if the database has processor time left.",
		test: unitTest{series: [][2]string{{`db_client_connection_wait_time_seconds_bucket{service="forms",le="0.5"}`, "0+10x10 100x60"}, {`db_client_connection_wait_time_seconds_bucket{service="forms",le="5.0"}`, "0+10x70"},
			{`db_client_connection_wait_time_seconds_bucket{service="forms",le="+Inf"}`, "0+10x70"}}, quiet: "10m", fires: "40m", labels: map[string]string{"service": "forms"}}},
	{Name: "FrontdeskJobFails", severity: "ticket", lasts: 10 * time.Minute,
		expr:    `sum by (service, exported_job) (increase(frontdesk_job_errors_total[1h])) > 0`,
		Summary: "Periodic work fails.",
		Runbook: "The log of the service has the error under the job's name. It is tried again when it is due.",
		test:    begins(`frontdesk_job_errors_total{service="booking",exported_job="reminders"}`, "0", "0+1", "service", "booking", "exported_job", "reminders")},
	{Name: "FrontdeskJobLate", severity: "ticket",
		expr:    `time() - max by (service, exported_job) (frontdesk_job_success_seconds) > {3h}`,
		Summary: "Periodic work did not come to its end for three hours; all of it is due every hour at least.",
		Runbook: "Does it fail (FrontdeskJobFails), or does a replica hold its lease that does not move? Table work_lease of the service's schema says until when. A restart of the service frees it.",
		test: unitTest{series: [][2]string{{`frontdesk_job_success_seconds{service="booking",exported_job="reminders"}`, "0x300"}}, quiet: "100m", fires: "200m",
			labels: map[string]string{"service": "booking", "exported_job": "reminders"}}},
	{Name: "FrontdeskRowsAside", severity: "ticket",
		expr:    `sum by (service) (increase(frontdesk_aside_total[1h])) > 0`,
		Summary: "Periodic work failed on single rows, went past them and tries them again later.",
		Runbook: "The log has \"row set aside\" with the work, the row and the error.",
		test:    begins(`frontdesk_aside_total{service="booking"}`, "0", "0+1", "service", "booking")},
	{Name: "FrontdeskMailsWait", severity: "page", lasts: 5 * time.Minute,
		expr:    `max by (service) (frontdesk_mail_age_seconds) > {10m}`,
		Summary: "Mails wait for longer than ten minutes.",
		Runbook: "Does the server of SVC_SMTP_URL take mails? GET /mails of the API shows the error of each; the log of settings too.",
		test:    begins(`frontdesk_mail_age_seconds{service="settings"}`, "0", "700", "service", "settings")},
	{Name: "FrontdeskMailsFail", severity: "ticket",
		expr: `sum by (service) (increase(frontdesk_mail_ended_total{outcome="failed"}[6h])) > 2 and ` +
			`sum by (service) (increase(frontdesk_mail_ended_total{outcome="failed"}[6h])) > 0.2 * sum by (service) (increase(frontdesk_mail_ended_total[6h]))`,
		Summary: "Of the mails of six hours several failed for good, more than one in five. They are not sent again.",
		Runbook: "GET /mails?status=failed of the API has the mail server's answer to each. Does it take SVC_MAIL_FROM, and mails to other domains? Mend that, then let people ask for their links again, and call those who had an appointment.",
		test: unitTest{series: [][2]string{{`frontdesk_mail_ended_total{service="settings",outcome="sent"}`, "0+1x10 10x60"}, {`frontdesk_mail_ended_total{service="settings",outcome="failed"}`, "0x10 0+1x60"}},
			quiet: "10m", fires: "40m", labels: map[string]string{"service": "settings"}}},
	{Name: "FrontdeskMailsUnknown", severity: "ticket",
		expr:    `max by (service) (frontdesk_mail_unknown) > 0`,
		Summary: "The process ended while it handed mails over, so nobody can say whether they arrived.",
		Runbook: "GET /mails of the API lists them with their recipients. The log of the mail server says which arrived; send the others again.",
		test:    begins(`frontdesk_mail_unknown{service="settings"}`, "0", "1", "service", "settings")},
	{Name: "FrontdeskAuditStreamBehind", severity: "ticket", lasts: 5 * time.Minute,
		expr:    `max by (service) (frontdesk_audit_stream_age_seconds) > {10m}`,
		Summary: "Audit entries wait for longer than ten minutes for the stream of SVC_AUDIT_STREAM. None is lost.",
		Runbook: "The log of settings has the error of the job audit-stream: a disk that is full, a server that does not answer or, with syslog over TCP and TLS, does not end a connection that it has read. It goes on where it stopped.",
		test:    begins(`frontdesk_audit_stream_age_seconds{service="settings"}`, "0", "900", "service", "settings")},
	{Name: "FrontdeskSignInUnreachable", severity: "page", lasts: 5 * time.Minute,
		expr:    `sum by (service) (increase(frontdesk_organization_sign_ins_total{outcome="unreachable"}[10m])) > 2`,
		Summary: "People cannot sign in by the organization's provider: it does not answer, or refuses our client.",
		Runbook: "The log of settings says at which step: its description, keys or token endpoint. Does this machine reach SVC_OIDC_ISSUER (SVC_FETCH_ALLOW for one inside), and is SVC_OIDC_CLIENT_SECRET still valid? Meanwhile people sign in by password; with SVC_OIDC_ONLY only the administrator SVC_ADMIN_LOGIN does.",
		test: unitTest{series: [][2]string{{`frontdesk_organization_sign_ins_total{service="settings",outcome="unreachable"}`, "0x10 1+1x60"}}, quiet: "10m", fires: "40m",
			labels: map[string]string{"service": "settings"}}},
	{Name: "FrontdeskRemindersOverdue", severity: "page", lasts: 5 * time.Minute,
		expr:    `max by (service) (frontdesk_booking_reminders_overdue) > 0`,
		Summary: "Reminders of appointments did not go out in time.",
		Runbook: "FrontdeskJobFails and FrontdeskRowsAside say why; else wait for the next round of the job, every 20 seconds.",
		test:    begins(`frontdesk_booking_reminders_overdue{service="booking"}`, "0", "2", "service", "booking")},
	{Name: "FrontdeskCalendarsFail", severity: "ticket", lasts: 15 * time.Minute,
		expr: `max by (service) (frontdesk_booking_external_calendars{state="failing"}) > 2 and ` +
			`max by (service) (frontdesk_booking_external_calendars{state="failing"}) > max by (service) (frontdesk_booking_external_calendars{state="ok"})`,
		Summary: "More of the calendars that people have connected cannot be read than can. Their times are those of before.",
		Runbook: "Does this machine reach the internet, or the hosts of SVC_FETCH_ALLOW? last_error of GET /staff/{user}/calendars says why each fails, and its person has a mail. They are read again by themselves, at once by POST …/sync; after seven days they are off.",
		test: unitTest{series: [][2]string{{`frontdesk_booking_external_calendars{service="booking",state="failing"}`, "0x10 5x60"}, {`frontdesk_booking_external_calendars{service="booking",state="ok"}`, "6x10 1x60"}},
			quiet: "10m", fires: "40m", labels: map[string]string{"service": "booking"}}},
	{Name: "FrontdeskCalendarsLate", severity: "page", lasts: 5 * time.Minute,
		expr:    `max by (service) (frontdesk_booking_external_calendars_late_seconds) > {10m}`,
		Summary: "A calendar that somebody has connected should have been read ten minutes ago: visitors may book times that are taken.",
		Runbook: "The log of booking has the error of the workers external-calendars. A replica reads four at a time, each for a minute at most: if many hosts are slow, add a replica. A claim whose replica is gone ends after three minutes.",
		test:    begins(`frontdesk_booking_external_calendars_late_seconds{service="booking"}`, "0", "900", "service", "booking")},
	{Name: "FrontdeskCalendarsWait", severity: "ticket", lasts: 15 * time.Minute,
		expr:    `max by (service) (frontdesk_booking_outgoing_oldest_seconds) > {30m}`,
		Summary: "An appointment has waited for half an hour to be written into the calendar that somebody has chosen for it, or to be removed there.",
		Runbook: "The log of booking says for which calendar and why: a password that is not valid any more, a server that is gone, a calendar that may not be written to. They are tried again by themselves, every hour at least; the person may change or remove the calendar. Nothing is lost: booking has the appointments.",
		test:    begins(`frontdesk_booking_outgoing_oldest_seconds{service="booking"}`, "0", "3000", "service", "booking")},
	{Name: "FrontdeskSubmissionsPending", severity: "page", lasts: 2 * time.Minute,
		expr:    `max by (service) (frontdesk_forms_pending_age_seconds) > {2m}`,
		Summary: "Submissions of forms wait for their contact.",
		Runbook: "Is contacts up, and does it follow contacts.command (its dashboard, lag)? The submissions are safe and are completed when it answers.",
		test:    begins(`frontdesk_forms_pending_age_seconds{service="forms"}`, "0", "300", "service", "forms")},
	{Name: "FrontdeskImportsStalled", severity: "ticket", lasts: 15 * time.Minute,
		expr:    `max by (service) (frontdesk_import_rows_left) > 0 unless sum by (service) (increase(frontdesk_import_rows_total[5m])) > 0`,
		Summary: "Imports wait or run, and none of their rows was done for a quarter of an hour.",
		Runbook: "The log of contacts names the import and its error; FrontdeskRowsAside says that it is set aside. pg_stat_activity shows a transaction that waits for a lock. Rows that were done stay, and the import continues by itself.",
		test: unitTest{series: [][2]string{{`frontdesk_import_rows_left{service="contacts"}`, "500x70"}, {`frontdesk_import_rows_total{service="contacts",outcome="created"}`, "0+10x10 100x60"}},
			quiet: "10m", fires: "40m", labels: map[string]string{"service": "contacts"}}},
	{Name: "FrontdeskWebhookPaused", severity: "ticket",
		expr:    `max by (service) (frontdesk_webhook_paused) > 0`,
		Summary: "Webhooks are paused after twenty failed attempts in a row. Their owners have a mail.",
		Runbook: "GET /webhooks of the API says which and why. Once the receiver answers, its owner switches the webhook on again.",
		test:    begins(`frontdesk_webhook_paused{service="webhooks"}`, "0", "1", "service", "webhooks")},
	{Name: "FrontdeskWebhooksBehind", severity: "page", lasts: 5 * time.Minute,
		expr:    `max by (service) (frontdesk_webhook_age_seconds) > {5m}`,
		Summary: "Deliveries wait for longer than five minutes for their first attempt.",
		Runbook: "A slow receiver delays its own webhook only: a webhook has 16 requests in flight. If all are behind, look at the log and the pool of webhooks; add a replica.",
		test:    begins(`frontdesk_webhook_age_seconds{service="webhooks"}`, "0", "400", "service", "webhooks")},
	{Name: "FrontdeskWebhooksFail", severity: "ticket", lasts: 15 * time.Minute,
		expr:    `sum(rate(frontdesk_webhook_attempt_seconds_count{outcome="failed"}[15m])) / sum(rate(frontdesk_webhook_attempt_seconds_count[15m])) > 0.5`,
		Summary: "More than half of all attempts to deliver webhooks fail.",
		Runbook: "If one receiver fails, its webhook pauses. If all do, this machine may not reach the internet: GET /webhook-deliveries of the API has the error of each.",
		test: unitTest{series: [][2]string{{`frontdesk_webhook_attempt_seconds_count{outcome="delivered",service="webhooks"}`, "0+10x10 100x60"}, {`frontdesk_webhook_attempt_seconds_count{outcome="failed",service="webhooks"}`, "0x10 0+10x60"}},
			quiet: "10m", fires: "60m", labels: map[string]string{}}},
}

// at sets when the alert fires.
func (t unitTest) at(fires string) unitTest {
	t.fires = fires
	return t
}

// unitTests are the alerts' tests for promtool: those that take hours, with an evaluation a minute, or the slow ones, each of which would evaluate
// all rules seven thousand times that way.
func unitTests(slow bool) any {
	type object = map[string]any
	tests := []object{}
	for _, a := range Alerts() {
		if a.test.slow != slow {
			continue
		}
		labels := map[string]string{"severity": a.severity}
		for k, v := range a.test.labels {
			labels[k] = v
		}
		series := []object{}
		for _, s := range a.test.series {
			series = append(series, object{"series": s[0], "values": s[1]})
		}
		tests = append(tests, object{"interval": "1m", "name": a.Name, "input_series": series, "alert_rule_test": []object{
			{"eval_time": a.test.quiet, "alertname": a.Name},
			{"eval_time": a.test.fires, "alertname": a.Name, "exp_alerts": []object{
				{"exp_labels": labels, "exp_annotations": object{"summary": a.Summary, "runbook": a.Runbook}}}},
		}})
	}
	every := "1m"
	if slow {
		every = "10m"
	}
	// Without this order promtool takes the groups in that of a Go map, and now and then the alerts read what was recorded one evaluation before.
	return object{"rule_files": []string{"rules.yml"}, "evaluation_interval": every, "group_eval_order": groups, "tests": tests}
}
