package op

import (
	"net/http"
	"strings"

	"frontdesk/libs/fault"
)

// Fails are the refusals by an operation's own rules: when each comes, by its code, or by code and reason ("svc_conflict too_late").
// Refusals that follow from the rest of the declaration, such as a missing permission, are not among them.
type Fails map[string]string

// AnyRefusal in Fails stands for refusals that only another operation can name.
const AnyRefusal = "any"

// statuses are those of the codes that Fails may name.
var statuses = map[string]int{
	"svc_invalid_param": http.StatusBadRequest, "svc_invalid_cursor": http.StatusBadRequest, "svc_invalid_token": http.StatusBadRequest,
	"svc_unauthorized": http.StatusUnauthorized, "svc_forbidden": http.StatusForbidden, "svc_password_required": http.StatusForbidden,
	"svc_two_factor_required": http.StatusUnauthorized, // of a sign-in; 403 follows from the declaration
	"svc_not_found":           http.StatusNotFound, "svc_method_not_allowed": http.StatusMethodNotAllowed,
	"svc_effects_changed": http.StatusPreconditionFailed, "svc_duplicate": http.StatusConflict, "svc_invalid_status": http.StatusConflict, "svc_slot_taken": http.StatusConflict, "svc_conflict": http.StatusConflict,
	"svc_token_expired": http.StatusGone, "svc_too_large": http.StatusRequestEntityTooLarge, "svc_rate_limited": http.StatusTooManyRequests,
	"svc_unavailable": http.StatusServiceUnavailable,
}

// The refusals that follow from a declaration. Calls are refused with these values, and package openapi shows them.
var (
	ErrSignIn      = fault.Unauthorized("Sign in, or use an application password.")
	ErrCrossOrigin = fault.Refused("cross_origin", "This cannot be done from another site.")
	ErrAssistant   = fault.Refused("assistant", "This application password is for assistants: it reaches abilities only.")
	ErrPersonOnly  = fault.Refused("person_only", "Only a person who is signed in may do this.")
	ErrVisibility  = fault.Refused("visibility", "This shows records of everybody, and you see only your own.")
	ErrTwoFactor   = fault.New(http.StatusForbidden, "svc_two_factor_required", "This site asks for a second factor. Set it up and sign in with it.")
	ErrAccept      = fault.New(http.StatusNotAcceptable, "svc_not_acceptable", "This answers with JSON.")
	ErrMedia       = fault.New(http.StatusUnsupportedMediaType, "svc_unsupported_media_type", "Send the body as application/json.")
)

// wrong returns what is wrong with f, or an empty text.
func (f Fails) wrong() string {
	for key, when := range f {
		code, _, _ := strings.Cut(key, " ")
		if key != AnyRefusal && StatusOf(code) == 0 {
			return "has no status for " + key
		}
		if !strings.HasSuffix(when, ".") {
			return "does not say in a sentence when " + key + " comes"
		}
	}
	return ""
}

// StatusOf is the status of a code that Fails may name; 0 for another one.
func StatusOf(code string) int { return statuses[code] }
