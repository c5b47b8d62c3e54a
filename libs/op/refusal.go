package op

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Fails are the refusals by an operation's own rules: when each comes, by its code, or by code and reason ("svc_conflict too_late").
// Refusals that follow from the rest of the declaration, such as a missing permission, are not among them.
type Fails map[string]string

// AnyRefusal in Fails stands for refusals that only another operation can name.
const AnyRefusal = "any"

// statusOf are the statuses of the codes that Fails may name.
var statusOf = map[string]int{
	"svc_invalid_param": http.StatusBadRequest, "svc_invalid_cursor": http.StatusBadRequest, "svc_invalid_token": http.StatusBadRequest,
	"svc_unauthorized": http.StatusUnauthorized, "svc_forbidden": http.StatusForbidden, "svc_password_required": http.StatusForbidden,
	"svc_two_factor_required": http.StatusUnauthorized, // of a sign-in; 403 follows from the declaration
	"svc_not_found":           http.StatusNotFound, "svc_method_not_allowed": http.StatusMethodNotAllowed,
	"svc_duplicate": http.StatusConflict, "svc_invalid_status": http.StatusConflict, "svc_slot_taken": http.StatusConflict, "svc_conflict": http.StatusConflict,
	"svc_token_expired": http.StatusGone, "svc_too_large": http.StatusRequestEntityTooLarge, "svc_rate_limited": http.StatusTooManyRequests,
	"svc_unavailable": http.StatusServiceUnavailable,
}

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

// The refusals that follow from a declaration. Calls are refused with these values, and the description shows them.
var (
	errSignIn      = fault.Unauthorized("Sign in, or use an application password.")
	errCrossOrigin = fault.Refused("cross_origin", "This cannot be done from another site.")
	errAssistant   = fault.Refused("assistant", "This application password is for assistants: it reaches abilities only.")
	errPersonOnly  = fault.Refused("person_only", "Only a person who is signed in may do this.")
	errVisibility  = fault.Refused("visibility", "This shows records of everybody, and you see only your own.")
	errTwoFactor   = fault.New(http.StatusForbidden, "svc_two_factor_required", "This site asks for a second factor. Set it up and sign in with it.")
	errAccept      = fault.New(http.StatusNotAcceptable, "svc_not_acceptable", "This answers with JSON.")
	errMedia       = fault.New(http.StatusUnsupportedMediaType, "svc_unsupported_media_type", "Send the body as application/json.")
)

// refusals are all refusals of the operation, by status, code and reason.
func (e *entry) refusals() []refusal {
	var all []refusal
	add := func(applies bool, f *fault.Fault, when string) {
		if applies {
			reason, _ := f.Data["reason"].(string)
			all = append(all, refusal{status: f.Status, Code: f.Code, Reason: reason, When: when, made: f})
		}
	}
	protected, writes := e.Perm != Public, e.method() != http.MethodGet
	add(true, fault.Invalid("per_page", fault.TooHigh(100)),
		"A parameter is missing, unknown or not valid. data.params has a sentence for each name, data.details a code with its facts.")
	add(writes && !e.takesAny, fault.InvalidJSON("The body is not a JSON object."), "The body is not a JSON object in UTF-8.")
	add(slices.ContainsFunc(e.in, func(f *field) bool { return f.name == "cursor" }), fault.InvalidCursor(),
		"The cursor was not made for this list with these filters and this caller.")
	add(protected, errSignIn, "No credential was sent, or it is not valid any more, or the role of its owner does not reach the API.")
	add(protected && e.Perm != SignedIn, fault.Forbidden(e.Perm), "The caller lacks a permission, which data.permission names.")
	add(protected || e.SameOrigin, errCrossOrigin, "A browser sent the call, which changes something, from another site.")
	add(protected && !e.ForAssistants, errAssistant, "The application password is for assistants, which reach abilities only.")
	add(e.PersonOnly, errPersonOnly, "Only a person who is signed in may do this, and no application password.")
	add(e.SeesAll, errVisibility, "The answer may have records of everybody, and the caller sees only their own.")
	add(protected && !e.BeforeTwoFactor, errTwoFactor, "The site asks for a second factor, and the session lacks it.")
	add(e.App != "", fault.NoRoute(), "The app is switched off.")
	add(strings.Contains(e.path(), "{"), fault.NotFound("record"), "There is no such record, or not for this caller.")
	add(!e.csv && !e.events, errAccept, "The header Accept does not admit application/json.")
	add(e.replays(), db.ErrIdempotency, "The Idempotency-Key was used with another request within the last 24 hours.")
	add(e.Versioned, fault.VersionMismatch(8), "The record has another version than If-Match names. data.version is the one it has.")
	add(e.Versioned, fault.WeakTag(8), "The record has the version that If-Match names, but by a weak tag: a proxy that compresses has put W/ before it.")
	add(writes, fault.TooLarge(maxBody), "The body is larger than the operation takes: 1 MiB unless its description says otherwise.")
	add(writes && !e.takesAny, errMedia, "The body was not sent as application/json, or in the media type of the file that the operation takes.")
	add(protected || len(e.Limits) > 0, fault.RateLimited(12*time.Second), "Too many calls. data.retry_after and the header Retry-After are the seconds to wait.")
	add(true, fault.From(errors.New("a defect")), "A defect on our side. data.request_id finds it in the logs.")
	add(true, fault.Unavailable(), "It works again a little later. Retry-After says when to try.")
	for key, when := range e.Fails {
		if code, reason, _ := strings.Cut(key, " "); key != AnyRefusal {
			all = append(all, refusal{status: statusOf[code], Code: code, Reason: reason, When: when})
		}
	}
	slices.SortStableFunc(all, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.status, b.status), strings.Compare(a.Code, b.Code), strings.Compare(a.Reason, b.Reason))
	})
	return all
}

// wrong returns what is wrong with f, or an empty text.
func (f Fails) wrong() string {
	for key, when := range f {
		code, _, _ := strings.Cut(key, " ")
		if key != AnyRefusal && statusOf[code] == 0 {
			return "has no status for " + key
		}
		if !strings.HasSuffix(when, ".") {
			return "does not say in a sentence when " + key + " comes"
		}
	}
	return ""
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
		return name("Invalid", "svc_invalid_json", "Body", "svc_invalid_cursor", "Cursor", "-svc_invalid_json", "Param")
	case 403:
		return name("Forbidden", "-svc_forbidden", "WithoutPermission", "-svc_two_factor_required", "InFirstStep", "-assistant", "ToPersons",
			"person_only", "ToPrograms", "visibility", "ToOwnVisibility")
	case 404:
		return name("NotFound", "svc_no_route", "OrOff", "-svc_not_found", "App")
	}
	words := strings.Split(strings.TrimPrefix(of[0].Code, "svc_"), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// exampleRequest is the id of a request in examples.
const exampleRequest = "4b8f1c1e-7d0a-4e6b-9a53-0c2f7a9d1e55"

// failures describes the answers to refusals, by status, and adds those that operations share to responses.
func (e *entry) failures(responses map[string]any) map[string]any {
	all := map[string]any{}
	byStatus := map[int][]refusal{}
	for _, r := range e.refusals() {
		byStatus[r.status] = append(byStatus[r.status], r)
	}
	for status, of := range byStatus {
		answer := e.failure(status, of)
		if name := common(status, of); name != "" {
			responses[name] = answer
			answer = ref("responses", name)
		}
		all[strconv.Itoa(status)] = answer
	}
	if when, ok := e.Fails[AnyRefusal]; ok {
		all["default"] = map[string]any{"description": when, "content": inJSON(ref("schemas", "Error"))}
	}
	return all
}

func (e *entry) failure(status int, of []refusal) map[string]any {
	var text []string
	examples := map[string]any{}
	for _, r := range of {
		line := "- `" + r.Code + "`"
		if r.Reason != "" {
			line += " with reason `" + r.Reason + "`"
		}
		text = append(text, line+": "+r.When)
		example, seen := e.set.examples[e.ID].Refused[r.key()]
		if r.made != nil {
			example, seen = r.made.Body(exampleRequest), true
		}
		if seen {
			examples[strings.ReplaceAll(r.key(), " ", ".")] = map[string]any{"summary": r.When, "value": example}
		}
	}
	content := inJSON(ref("schemas", "Error"))
	if len(examples) > 0 {
		content["application/json"].(map[string]any)["examples"] = examples
	}
	answer := map[string]any{"description": strings.Join(text, "\n"), "content": content, "x-codes": of}
	headers := map[string]any{"X-Request-Id": ref("headers", "RequestId")}
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = ref("headers", "RetryAfter")
	}
	answer["headers"] = headers
	return answer
}
