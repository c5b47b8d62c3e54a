package controller

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/proto"
)

// Names of what decides about a request that failed. A router's name ends in that of its repetition.
const (
	outage    = "OUTAGE"
	again     = "AGAIN"
	elsewhere = "ELSEWHERE"
	keyed     = "KEYED"
	whole     = "WHOLE"
	tooLong   = "TOO-LONG"
	tooMuch   = "TOO-MUCH"
)

// repetition is a row of the table of what is repeated.
type repetition struct {
	name    string
	classes []string
	// rule matches the requests of a group that the row is about; empty if it has none.
	rule        func(group) string
	middlewares []string
}

// repetitions are the requests to a service with several replicas that go to another one even if a process has them already: it died over them,
// or was not ready. They and their answers are kept whole for that. No row is about streams, which are never kept.
//
//	class                        | method    | Idempotency-Key | repeated
//	every                        | every     |                 | when no process got a byte of it: 3 times (AGAIN)
//	page, asset, rest, public    | GET, HEAD |                 | on 502 5 times, on 504 twice, on 503 once (ELSEWHERE)
//	ability                      | GET, HEAD |                 | the same
//	rest, public, ability        | POST      | that the route  | the same, if the length of the body is known
//	                             |           | recognises      |
//	every other                  |           |                 | never
//
// A body that says no length is refused while it is kept. Of a POST the service has to refuse it, in its own words and by its own limit, so it is
// not kept. A GET is read to its end before anything is known of its body; what is too long then is told in our shape (TOO-LONG). The service of an ability
// answers 413 as well, if its answer would be too long, and Traefik does not tell one from the other, so the sentence is about both (TOO-MUCH).
var repetitions = []repetition{
	{elsewhere, []string{classPage, classAsset, classRest, classPublic}, reading, []string{tooLong, outage, elsewhere, again}},
	{elsewhere, []string{classAbility}, reading, []string{tooMuch, outage, elsewhere, again}},
	{keyed, []string{classRest, classPublic, classAbility}, recognised, []string{outage, elsewhere, again}},
}

// wholeRule matches the writes of a group whose short body is kept before the service gets it, and whose answer is kept before anybody does. Go's proxy reads
// a body once more behind its end, and Go's server forbids that from the first piece of an answer on. A service that answers in between had its answer cut
// off behind that piece, as happens beside a busy processor. Longer bodies pass as they come, and answers to them are short. What listens is a stream.
func wholeRule(g group) string {
	const short = "HeaderRegexp(`Content-Length`, `^0*[1-9][0-9]{0,5}$`)"
	g.methods = strings.Join(g.writes(), " ")
	rule := short + " && " + g.rule()
	if g.target.class == classStream {
		rule = "!Header(`Mcp-Method`, `subscriptions/listen`) && " + rule
	}
	return rule
}

// once are the middlewares of requests that no row is about.
var once = []string{outage, again}

func reading(g group) string { return "(Method(`GET`) || Method(`HEAD`)) && " + g.rule() }

func recognised(g group) string {
	if len(g.replaying) == 0 {
		return ""
	}
	return "Method(`POST`) && HeaderRegexp(`Idempotency-Key`, `.`) && HeaderRegexp(`Content-Length`, `.`) && " + oneOf(g.replaying)
}

// repeated are the rows about a group, with their rules.
func (g group) repeated() (rows []repetition, rules []string) {
	for _, row := range repetitions {
		if rule := row.rule(g); slices.Contains(row.classes, g.target.class) && rule != "" {
			rows, rules = append(rows, row), append(rules, rule)
		}
	}
	return rows, rules
}

func repeating() map[string]Middleware {
	// A process that has come back before the next check refuses with 503 until it is ready: once is enough for that, and a service that is overloaded
	// gets twice its requests at most. Under load a request may be given to a dead process again, over further connections that were kept, hence
	// five times. 504 is a process whose machine is gone too.
	most := func(status, times int) string {
		return fmt.Sprintf("ResponseCode() == %d && Attempts() < %d", status, times+1)
	}
	return map[string]Middleware{
		// Services never answer 502 or 504. These come from Traefik: no process listens, or none answered in time.
		outage: {Errors: &Errors{
			Status: []string{"502", "504"}, StatusRewrites: map[string]int{"502": 503, "504": 503},
			Service: answers, Query: unavailablePath + "?url={url}",
		}},
		again:     {Retry: &Retry{Attempts: 4, InitialInterval: "50ms"}},
		elsewhere: {Buffering: &Buffering{MaxRequestBodyBytes: proto.MostBody, RetryExpression: most(502, 5) + " || " + most(504, 2) + " || " + most(503, 1)}},
		whole:     {Buffering: &Buffering{MaxRequestBodyBytes: proto.MostBody}},
		tooLong:   {Errors: &Errors{Status: []string{"413"}, Service: answers, Query: tooLargePath}},
		tooMuch:   {Errors: &Errors{Status: []string{"413"}, Service: answers, Query: tooMuchPath}},
	}
}
