package assistants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mcp"
)

// What assistants call to be connected, by OAuth 2.1: RFC 9728, 8414, 7591, 7636, 8707, 9207, 7009 and Client ID
// Metadata Documents. Clients are public, so
// they prove who they are by PKCE alone.
const (
	serverPath   = "/.well-known/oauth-authorization-server"
	registerPath = "/oauth/register"
	tokenPath    = "/oauth/token"
	revokePath   = "/oauth/revoke"
	connectPath  = "/account/connect"
)

// OAuthPaths are the paths of OAuth, for the gateway.
var OAuthPaths = []*proto.Page{{Path: mcp.ResourcePath}, {Path: mcp.ResourcePath + mcp.Path}, {Path: serverPath}, {Path: registerPath}, {Path: tokenPath}, {Path: revokePath}}

const maxOAuthBody = 32 << 10

// Limits per address. Assistants that others host share theirs.
var (
	registrations = []db.Limit{{N: 10, Per: time.Minute}, {N: 60, Per: time.Hour}}
	grants        = []db.Limit{{N: 300, Per: time.Minute}}
)

// OAuth serves OAuthPaths.
func (r *Room) OAuth(mux *http.ServeMux) {
	resource := r.metadata(func() map[string]any {
		return map[string]any{"resource": r.resource(), "authorization_servers": []string{r.Config.PublicURL}, "scopes_supported": auth.Permissions,
			"bearer_methods_supported": []string{"header"}, "resource_name": "Frontdesk"}
	})
	answer(mux, http.MethodGet, mcp.ResourcePath, resource)
	answer(mux, http.MethodGet, mcp.ResourcePath+mcp.Path, resource)
	answer(mux, http.MethodGet, serverPath, r.metadata(func() map[string]any {
		public := r.Config.PublicURL
		return map[string]any{"issuer": public, "authorization_endpoint": public + connectPath, "token_endpoint": public + tokenPath,
			"registration_endpoint": public + registerPath, "revocation_endpoint": public + revokePath, "scopes_supported": auth.Permissions,
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"revocation_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
			"client_id_metadata_document_supported": true}
	}))
	answer(mux, http.MethodPost, registerPath, r.limited("oauth register", registrations, r.register))
	answer(mux, http.MethodPost, tokenPath, r.limited("oauth token", grants, r.token))
	answer(mux, http.MethodPost, revokePath, r.limited("oauth token", grants, r.revokeToken))
}

// answer serves one method of a path, and 405 to all others, which would be pages.
func answer(mux *http.ServeMux, method, path string, h http.Handler) {
	mux.Handle(method+" "+path, h)
	mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", method)
		op.WriteFault(req.Context(), fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed", "This path does not answer to "+req.Method+".", "allow", []string{method}), w)
	})
}

func (r *Room) metadata(of func() map[string]any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		answerOAuth(w, http.StatusOK, of())
	})
}

// oauthError is a refusal in the words of OAuth.
type oauthError struct {
	status            int
	code, description string
}

func (e *oauthError) Error() string { return e.code + ": " + e.description }

func badOAuth(code, description string) error {
	return &oauthError{http.StatusBadRequest, code, description}
}

func answerOAuth(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// limited counts a call of an address, makes the call, and answers with its error if it has one.
func (r *Room) limited(key string, limits []db.Limit, f func(w http.ResponseWriter, req *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		address := r.Auth.Address(req)
		ctx := db.WithActor(req.Context(), db.Actor{Channel: db.ChannelAPI, Address: address})
		wait, err := r.DB.Allow(ctx, r.Config.RateFactor, op.Buckets(key, address, limits)...)
		if err == nil && wait > 0 {
			err = fault.RateLimited(wait)
		}
		if err == nil {
			req = req.WithContext(ctx)
			req.Body = http.MaxBytesReader(w, req.Body, maxOAuthBody)
			err = f(w, req)
		}
		if err == nil {
			return
		}
		if refused, ok := errors.AsType[*oauthError](err); ok {
			if refused.status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="Frontdesk"`)
			}
			answerOAuth(w, refused.status, map[string]string{"error": refused.code, "error_description": refused.description})
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		op.WriteFault(ctx, err, w)
	}
}

// register adds a program, RFC 7591. It is public, whatever it asks to be.
func (r *Room) register(w http.ResponseWriter, req *http.Request) error {
	var in registration
	raw, err := io.ReadAll(req.Body)
	if err != nil || json.Unmarshal(raw, &in) != nil {
		return badOAuth("invalid_client_metadata", "The body has to be a JSON object of at most 32 KiB.")
	}
	a, err := in.assistant()
	if err != nil {
		return err
	}
	err = r.DB.Do(req.Context(), func(tx *db.Tx) (err error) {
		a, err = registerAssistant(req.Context(), tx, a)
		return err
	})
	if err != nil {
		return err
	}
	answerOAuth(w, http.StatusCreated, map[string]any{"client_id": a.ID, "client_id_issued_at": a.CreatedAt.Unix(), "client_name": a.Name, "redirect_uris": a.RedirectURIs,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}})
	return nil
}

// fields reads a form that has each field once. Of resource there may be several, which are one text with spaces then.
func fields(r *http.Request) (func(string) string, error) {
	if err := r.ParseForm(); err != nil {
		return nil, badOAuth("invalid_request", "The body has to be a form of at most 32 KiB.")
	}
	for name, values := range r.PostForm {
		if name == "resource" {
			r.PostForm.Set(name, strings.Join(values, " "))
		} else if len(values) > 1 {
			return nil, badOAuth("invalid_request", "The field "+name+" comes twice.")
		}
	}
	return r.PostForm.Get, nil
}

// clientOf is the program that sends a request: it names itself by client_id, or by Basic, whose password does not count because programs have
// none here. The error is invalid_client for one that is not known: it is told to register anew.
func clientOf(req *http.Request, tx *db.Tx, id string) (assistant, error) {
	unknown := &oauthError{http.StatusBadRequest, "invalid_client", "There is no such client. Register it."}
	if name, _, basic := req.BasicAuth(); basic {
		unknown.status = http.StatusUnauthorized
		id = cmp.Or(id, name)
	}
	if id == "" {
		return assistant{}, badOAuth("invalid_request", "client_id is missing.")
	}
	a, err := assistantByID(req.Context(), tx, id)
	if errors.Is(err, errUnknownClient) {
		err = unknown
	}
	return a, err
}

// token gives tokens for a code or a refresh token.
func (r *Room) token(w http.ResponseWriter, req *http.Request) error {
	field, err := fields(req)
	if err != nil {
		return err
	}
	var give func(context.Context, *db.Tx, assistant) (tokens, error)
	switch field("grant_type") {
	case "authorization_code":
		in := exchange{field("code"), field("code_verifier"), field("redirect_uri")}
		switch {
		case in.Code == "":
			return badOAuth("invalid_request", "code is missing.")
		case len(in.Verifier) < 43 || len(in.Verifier) > 128:
			return badOAuth("invalid_request", "code_verifier has to have 43 to 128 characters.")
		}
		give = func(ctx context.Context, tx *db.Tx, a assistant) (tokens, error) { return r.useCode(ctx, tx, a, in) }
	case "refresh_token":
		token, scope := field("refresh_token"), strings.Fields(field("scope"))
		if token == "" {
			return badOAuth("invalid_request", "refresh_token is missing.")
		}
		give = func(ctx context.Context, tx *db.Tx, a assistant) (tokens, error) {
			return r.refresh(ctx, tx, a, token, scope)
		}
	case "":
		return badOAuth("invalid_request", "grant_type is missing.")
	default:
		return badOAuth("unsupported_grant_type", "grant_type has to be authorization_code or refresh_token.")
	}
	if !r.isResource(field("resource")) {
		return badOAuth("invalid_target", "The only resource here is "+r.resource()+".")
	}
	var given tokens
	var refused error
	err = r.DB.Do(req.Context(), func(tx *db.Tx) error {
		a, err := clientOf(req, tx, field("client_id"))
		if err != nil {
			return err
		}
		given, err = give(req.Context(), tx, a)
		// A refusal may have ended a connection, which counts.
		if refused = nil; errors.Is(err, errGrant) {
			refused, err = err, nil
		}
		return err
	})
	if err := cmp.Or(err, refused); err != nil {
		return err
	}
	answerOAuth(w, http.StatusOK, map[string]any{"access_token": given.access, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()),
		"refresh_token": given.refresh, "scope": strings.Join(given.permissions, " ")})
	return nil
}

// revokeToken ends the connection of a token, RFC 7009. The answer is the same for one that never was. Who holds a token may end it, without a
// client_id too; one that is sent has to be the token's.
func (r *Room) revokeToken(w http.ResponseWriter, req *http.Request) error {
	field, err := fields(req)
	if err != nil {
		return err
	}
	if field("token") == "" {
		return badOAuth("invalid_request", "The body has to be a form with a token.")
	}
	err = r.DB.Do(req.Context(), func(tx *db.Tx) error {
		_, _, basic := req.BasicAuth()
		if field("client_id") == "" && !basic {
			return revoke(req.Context(), tx, field("token"), nil)
		}
		a, err := clientOf(req, tx, field("client_id"))
		if err != nil {
			return err
		}
		return revoke(req.Context(), tx, field("token"), &a)
	})
	if err != nil {
		return err
	}
	answerOAuth(w, http.StatusOK, map[string]any{})
	return nil
}
