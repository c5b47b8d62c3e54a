package openapi

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// refusal is one way in which an operation is refused.
type refusal struct {
	status int
	Code   string `json:"code"`
	Reason string `json:"reason,omitempty"`
	When   string `json:"when"`
	// made is the refusal as a call would get it, nil for those of Fails.
	made *fault.Fault
}

// key is the refusal's name in Fails and among examples.
func (r refusal) key() string { return strings.TrimSpace(r.Code + " " + r.Reason) }

// refusals are all refusals of the operation, by status, code and reason.
func refusals(e *op.Entry) []refusal {
	var all []refusal
	add := func(applies bool, f *fault.Fault, when string) {
		if applies {
			reason, _ := f.Data["reason"].(string)
			all = append(all, refusal{status: f.Status, Code: f.Code, Reason: reason, When: when, made: f})
		}
	}
	protected, writes := e.Perm != op.Public, e.Method() != http.MethodGet
	add(true, fault.Invalid("per_page", fault.TooHigh(100)),
		"A parameter is missing, unknown or not valid. data.params has a sentence for each name, data.details a code with its facts.")
	add(writes && !e.TakesAny, fault.InvalidJSON("The body is not a JSON object."), "The body is not a JSON object in UTF-8.")
	add(slices.ContainsFunc(e.In, func(f *op.Field) bool { return f.Name == "cursor" }), fault.InvalidCursor(),
		"The cursor was not made for this list with these filters and this caller.")
	add(protected, op.ErrSignIn, "No credential was sent, or it is not valid any more, or the role of its owner does not reach the API.")
	add(protected && e.Perm != op.SignedIn, fault.Forbidden(e.Perm), "The caller lacks a permission, which data.permission names.")
	add(protected || e.SameOrigin, op.ErrCrossOrigin, "A browser sent the call, which changes something, from another site.")
	add(protected && !e.ForAssistants, op.ErrAssistant, "The application password is for assistants, which reach abilities only.")
	add(e.PersonOnly || slices.ContainsFunc(e.In, func(f *op.Field) bool { return f.PersonOnly }), op.ErrPersonOnly,
		"Only a person who is signed in may do this or change one of these fields, and no application password.")
	add(e.SeesAll, op.ErrVisibility, "The answer may have records of everybody, and the caller sees only their own.")
	add(protected && !e.BeforeTwoFactor, op.ErrTwoFactor, "The site asks for a second factor, and the session lacks it.")
	add(e.App != "", fault.NoRoute(), "The app is switched off.")
	add(strings.Contains(e.Path(), "{"), fault.NotFound("record"), "There is no such record, or not for this caller.")
	add(e.Accepted(), op.ErrAccept, "The header Accept does not admit application/json.")
	add(e.Replays(), db.ErrIdempotency, "The Idempotency-Key was used with another request within the last 24 hours.")
	add(e.Versioned, fault.VersionMismatch(8), "The record has another version than If-Match names. data.version is the one it has.")
	add(e.Versioned, fault.WeakTag(8), "The record has the version that If-Match names, but by a weak tag: a proxy that compresses has put W/ before it.")
	add(e.Rehearses(), op.EffectsChanged(op.Effects{}, "5f2c9b1e7d0a4e6b9a530c2f7a9d1e55"), "The call does something else by now than the rehearsal that If-Effects names. data.effects and data.hash are those of now.")
	if why := e.NoRehearsal(); why != "" {
		add(true, op.ErrNoRehearsal[why], "Prefer: dry-run or If-Effects was sent, and this cannot be rehearsed.")
	}
	add(e.MayWait(), op.ApprovalNeeded(approvalShown), "Nothing has happened yet: the credential asks for each such call, and a person decides on it. data.approval is what waits, and Location where to ask for it.")
	add(writes, fault.TooLarge(op.MaxBody), "The body is larger than the operation takes: 1 MiB unless its description says otherwise.")
	add(e.MayWait(), op.ErrTooLargeToWait, "The call would have to wait for a person, and is larger than the 512 KiB that a call may have which waits.")
	add(writes && !e.TakesAny, op.ErrMedia, "The body was not sent as application/json, or in the media type of the file that the operation takes.")
	add(protected || len(e.Limits) > 0, fault.RateLimited(12*time.Second), "Too many calls. data.retry_after and the header Retry-After are the seconds to wait.")
	add(true, fault.From(errors.New("a defect")), "A defect on our side. data.request_id finds it in the logs.")
	add(true, fault.Unavailable(), "It works again a little later. Retry-After says when to try.")
	for key, when := range e.Fails {
		if code, reason, _ := strings.Cut(key, " "); key != op.AnyRefusal {
			all = append(all, refusal{status: op.StatusOf(code), Code: code, Reason: reason, When: when})
		}
	}
	slices.SortStableFunc(all, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.status, b.status), strings.Compare(a.Code, b.Code), strings.Compare(a.Reason, b.Reason))
	})
	return all
}

// common names the responses of refusals that follow from the declaration alone: operations with the same ones share a component.
// It returns an empty text for refusals that one operation has by its own rules.
func common(status int, of []refusal) string {
	has := map[string]bool{}
	for _, r := range of {
		if r.made == nil {
			return ""
		}
		has[cmp.Or(r.Reason, r.Code)] = true
	}
	name := func(usual string, words ...string) string {
		for i := 0; i+1 < len(words); i += 2 {
			if key, without := strings.CutPrefix(words[i], "-"); has[key] != without {
				usual += words[i+1]
			}
		}
		return usual
	}
	switch status {
	case 400:
		return name("Invalid", "svc_invalid_json", "Body", "svc_invalid_cursor", "Cursor", "-svc_invalid_json", "Param",
			"dry_run", "ByField", "network", "Outside", "public", "Public", "sign_in", "SignIn")
	case 403:
		return name("Forbidden", "-svc_forbidden", "WithoutPermission", "-svc_two_factor_required", "InFirstStep", "-assistant", "ToPersons",
			"person_only", "ToPrograms", "visibility", "ToOwnVisibility")
	case 404:
		return name("NotFound", "svc_no_route", "OrOff", "-svc_not_found", "App")
	case 412:
		return name("EffectsChanged", "svc_version_mismatch", "OrVersion")
	case 413:
		return name("TooLarge", "approval", "ToWait")
	}
	words := strings.Split(strings.TrimPrefix(of[0].Code, "svc_"), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// exampleRequest is the id of a request in examples.
const exampleRequest = "4b8f1c1e-7d0a-4e6b-9a53-0c2f7a9d1e55"

// approvalShown is an approval in examples.
var approvalShown = op.Approval{ID: uuid.MustParse(exampleRequest), Operation: "delete-contact", Input: op.Object(`{"id":"0192f0c1-5b1e-7a34-8f00-6a1d2c3b4e5f"}`),
	AskedBy: op.AskedBy{Kind: "key", Name: "Website", UserID: 3}, State: "waiting", Answer: op.Object("null"),
	AskedAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), EndsAt: time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)}

// failures describes the answers to refusals, by status, and adds those that operations share to responses.
func failures(e *op.Entry, example Example, responses map[string]any) map[string]any {
	all := map[string]any{}
	byStatus := map[int][]refusal{}
	for _, r := range refusals(e) {
		byStatus[r.status] = append(byStatus[r.status], r)
	}
	for status, of := range byStatus {
		answer := failure(example, status, of)
		if name := common(status, of); name != "" {
			responses[name] = answer
			answer = ref("responses", name)
		}
		all[strconv.Itoa(status)] = answer
	}
	if when, ok := e.Fails[op.AnyRefusal]; ok {
		all["default"] = map[string]any{"description": when, "content": inJSON(ref("schemas", "Error"))}
	}
	return all
}

func failure(example Example, status int, of []refusal) map[string]any {
	var text []string
	examples := map[string]any{}
	for _, r := range of {
		line := "- `" + r.Code + "`"
		if r.Reason != "" {
			line += " with reason `" + r.Reason + "`"
		}
		text = append(text, line+": "+r.When)
		body, seen := example.Refused[r.key()]
		if r.made != nil {
			body, seen = r.made.Body(exampleRequest), true
		}
		if seen {
			examples[strings.ReplaceAll(r.key(), " ", ".")] = map[string]any{"summary": r.When, "value": body}
		}
	}
	content := inJSON(ref("schemas", "Error"))
	if len(examples) > 0 {
		content["application/json"].(map[string]any)["examples"] = examples
	}
	answer := map[string]any{"description": strings.Join(text, "\n"), "content": content, "x-codes": of}
	headers := map[string]any{"X-Request-Id": ref("headers", "RequestId")}
	switch status {
	case http.StatusAccepted:
		headers["Location"] = map[string]any{"description": "Where the approval is.", "schema": map[string]any{"type": "string"}}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = ref("headers", "RetryAfter")
	}
	answer["headers"] = headers
	return answer
}
