package assistants

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/typed"
)

// askToConnect is what an assistant asks of a person, in the words of OAuth.
type askToConnect struct {
	ClientID            string `json:"client_id" required:"true" maxLength:"2048" doc:"The assistant: the id of its registration, or the address of its description (Client ID Metadata Document)."`
	RedirectURI         string `json:"redirect_uri" required:"true" maxLength:"2048" doc:"Where the person is led back to; one that the assistant has registered."`
	CodeChallenge       string `json:"code_challenge,omitempty" maxLength:"128" doc:"PKCE."`
	CodeChallengeMethod string `json:"code_challenge_method,omitempty" maxLength:"20" doc:"S256; there is no other."`
	Resource            string `json:"resource,omitempty" maxLength:"2048" doc:"What the tokens are for, separated by spaces; left out for the only one there is."`
	Scope               string `json:"scope,omitempty" maxLength:"1000" doc:"Permissions, separated by spaces; left out for all."`
}

// askedToConnect is what a person has to decide on.
type askedToConnect struct {
	Name        string   `json:"name" doc:"As the assistant calls itself; nobody has checked it."`
	Host        string   `json:"host" doc:"Where the person is led back to."`
	Permissions []string `json:"permissions" doc:"What it asks for, as far as the person may do it."`
	// Abilities are those that the permissions lead to.
	Abilities []askedAbility `json:"abilities" doc:"What it could do with these permissions. Each can be taken away."`
	// Confirm is true if connect would refuse for want of a recent password.
	Confirm bool `json:"confirm" doc:"The caller has to confirm first that it is them: by the password (confirm-password), or by the organization's account (confirm-by-organization)."`
}

// askedAbility is an ability on which a person decides.
type askedAbility struct {
	Name        string `json:"name" doc:"Its name, svc/ in front."`
	Does        string `json:"does" doc:"What it does, in a sentence."`
	Permission  string `json:"permission" doc:"The permission that it needs."`
	ReadOnly    bool   `json:"readonly" doc:"It changes nothing."`
	Destructive bool   `json:"destructive" doc:"It deletes or overwrites."`
}

// abilitiesFor are the exposed abilities that permissions lead to, in the order of the interface. Those that need no permission
// belong to seeing contacts, which every assistant may.
func (r *Room) abilitiesFor(permissions []string) []askedAbility {
	all := []askedAbility{}
	for _, a := range r.exposed() {
		needs := a.GetPermission()
		if needs == op.SignedIn {
			needs = auth.ViewContacts
		}
		if slices.Contains(permissions, needs) {
			all = append(all, askedAbility{a.GetName(), mcp.FirstSentence(a.GetDescription()), needs, a.GetReadOnly(), a.GetDestructive()})
		}
	}
	return all
}

var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// mayLeadBack marks the data of an error: the address is one that the assistant has registered, so a person may be led back there. Without
// the mark nobody knows, for instance because a parameter was refused before the assistant was looked up.
const mayLeadBack = "lead_back"

// check returns the assistant that asks. A problem that is found once assistant and address are known to belong together has the mark
// mayLeadBack.
func (r *Room) check(ctx context.Context, tx *db.Tx, in askToConnect) (assistant, error) {
	a, err := assistantByID(ctx, tx, in.ClientID)
	if err != nil {
		return a, err
	}
	if !a.redirects(in.RedirectURI) {
		return a, fault.Invalid("redirect_uri", fault.NewProblem("unknown", "is not one that the assistant has registered"))
	}
	problems := fault.Problems{}
	if in.CodeChallengeMethod != "S256" {
		problems.Add("code_challenge_method", fault.NewProblem("not_one_of", "must be S256"))
	}
	if !challenge.MatchString(in.CodeChallenge) {
		problems.Add("code_challenge", fault.NewProblem("challenge", "must be a SHA-256 in base64url"))
	}
	for _, p := range strings.Fields(in.Scope) {
		if !slices.Contains(auth.Permissions, p) {
			problems.Add("scope", typed.Unknown("permission", p))
			break
		}
	}
	if !r.isResource(in.Resource) {
		problems.Add("resource", fault.NewProblem("unknown", "must be "+r.resource()))
	}
	if err := problems.Err(); err != nil {
		f := fault.From(err)
		f.Data[mayLeadBack] = true
		return a, f
	}
	return a, nil
}

// resource is what tokens of assistants are for.
func (r *Room) resource() string { return r.Config.PublicURL + mcp.Path }

// isResource reports whether names of resources, separated by spaces, all mean ours. None means the only one there is.
func (r *Room) isResource(names string) bool {
	return !slices.ContainsFunc(strings.Fields(names), func(name string) bool {
		u, err := url.Parse(name)
		if err != nil || u.Fragment != "" || u.User != nil {
			return true
		}
		place := strings.ToLower(u.Scheme+"://"+u.Host) + strings.TrimSuffix(u.Path, "/")
		return place != r.resource() && place != r.Config.PublicURL
	})
}

// askedFor are the permissions that a scope names, as far as the person holds them: all of theirs when it names none.
func askedFor(who db.Actor, scope string) []string {
	held := slices.DeleteFunc(slices.Clone(auth.Permissions), func(p string) bool { return !who.Can(p) })
	return within(held, strings.Fields(scope))
}

// checkConnection shows what an assistant asks for. Errors: 400 by the name of what is wrong, 409 when keys of the person's role do not
// reach the API.
func (r *Room) checkConnection(ctx context.Context, d *db.DB, in askToConnect) (out askedToConnect, err error) {
	if err := r.described(ctx, d, in.ClientID); err != nil {
		return out, err
	}
	err = d.Read(ctx, func(tx *db.Tx) error {
		a, err := r.check(ctx, tx, in)
		if err != nil {
			return err
		}
		if err := mayConnect(ctx, tx); err != nil {
			return err
		}
		old := sessions.RecentPassword(ctx, tx)
		permissions := askedFor(tx.Who, in.Scope)
		out = askedToConnect{a.Name, hostOf(in.RedirectURI), permissions, r.abilitiesFor(permissions), old != nil}
		return row.UnlessRefused(old)
	})
	return out, err
}

// mayConnect refuses somebody whose roles do not reach the API, or who holds no permission.
func mayConnect(ctx context.Context, tx *db.Tx) error {
	reach, _, err := site.APIRoles(ctx, tx)
	if err != nil {
		return err
	}
	if !tx.Who.Can(auth.ViewContacts) || !slices.ContainsFunc(tx.Who.Roles, func(r string) bool { return slices.Contains(reach, r) }) {
		return fault.Conflict("api_access", "Your role does not reach the API, so no assistant can act for you.")
	}
	return nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// connectInput is a person's consent.
type connectInput struct {
	askToConnect
	State       string       `json:"state,omitempty" maxLength:"2048" doc:"Goes back to the assistant as it came."`
	Permissions []string     `json:"permissions" required:"true" maxItems:"20" doc:"What the assistant may do at most."`
	Denied      []string     `json:"denied,omitempty" maxItems:"500" doc:"Abilities that it may not use whatever its permissions, such as svc/delete-contact."`
	ReadOnly    bool         `json:"read_only,omitempty" doc:"It may change nothing, whatever its permissions."`
	Approval    op.Approvals `json:"approval,omitempty" doc:"Which of its calls wait until a person approves them; never when left out."`
}

// newConnection is a connection that waits for its assistant.
type newConnection struct {
	ID         uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	RedirectTo string    `json:"redirect_to,omitempty" doc:"Where to lead the person now. It carries the code, which the assistant exchanges for tokens within two minutes."`
}

// WithoutSecret is the answer to a repeated call.
func (n newConnection) WithoutSecret() any { return newConnection{ID: n.ID} }

// connect stores the consent of the caller and mails them that there is one. Errors: 403 without a session that has just seen the
// password, 400 by the name of what is wrong, 409 for too many connections.
func (r *Room) connect(ctx context.Context, d *db.DB, in connectInput) (out newConnection, err error) {
	if err := r.described(ctx, d, in.ClientID); err != nil {
		return out, err
	}
	err = d.Do(ctx, func(tx *db.Tx) (err error) {
		if out, err = r.agree(ctx, tx, in); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "connect-assistant", "connection", out.ID.String())
	})
	return out, err
}

func (r *Room) agree(ctx context.Context, tx *db.Tx, in connectInput) (newConnection, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return newConnection{}, err
	}
	a, err := r.check(ctx, tx, in.askToConnect)
	if err != nil {
		return newConnection{}, err
	}
	if err := mayConnect(ctx, tx); err != nil {
		return newConnection{}, err
	}
	for _, p := range in.Permissions {
		if !slices.Contains(auth.Permissions, p) {
			return newConnection{}, fault.Invalid("permissions", typed.Unknown("permission", p))
		}
	}
	denied := []string{}
	for _, name := range in.Denied {
		if !r.isAbility(name) {
			return newConnection{}, fault.Invalid("denied", typed.Unknown("ability", name))
		}
		denied = append(denied, name)
	}
	slices.Sort(denied)
	p, err := people.Lock(ctx, tx, tx.Who.UserID)
	if err != nil {
		return newConnection{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `select count(*) from connection where person_id = $1`, p.ID).Scan(&have); err != nil {
		return newConnection{}, fmt.Errorf("count connections: %w", err)
	}
	if have >= mostConnections {
		return newConnection{}, fault.Conflict("too_many", "There are too many connected assistants. Disconnect one first.")
	}
	// Never more than was asked for and than the person holds; seeing contacts is what everything else requires.
	allowed := slices.DeleteFunc(askedFor(tx.Who, in.Scope), func(p string) bool { return p != auth.ViewContacts && !slices.Contains(in.Permissions, p) })
	// The job that deletes unused programs waits for this row, and then sees the connection.
	if _, err := tx.Exec(ctx, `update assistant set used_at = $2 where id = $1`, a.ID, tx.Now); err != nil {
		return newConnection{}, fmt.Errorf("note the use of assistant %s: %w", a.ID, err)
	}
	id := db.NewID()
	code, hash := secrets.New()
	_, err = tx.Exec(ctx, `insert into connection (id, person_id, assistant_id, name, permissions, denied, read_only, approval, redirect_uri, code_hash, code_challenge, code_expires_at, created_at, expires_at)
		values (@id, @person, @assistant, @name, @permissions, @denied, @readonly, @approval, @redirect, @code, @challenge, @until, @now, @until)`,
		db.Args{"id": id, "person": p.ID, "assistant": a.ID, "name": a.Name, "permissions": allowed, "denied": slices.Compact(denied), "readonly": in.ReadOnly, "approval": in.Approval.OrNever(), "redirect": in.RedirectURI, "code": hash,
			"challenge": in.CodeChallenge, "until": tx.Now.Add(codeLife), "now": tx.Now})
	if err != nil {
		return newConnection{}, fmt.Errorf("store connection: %w", err)
	}
	if err := r.noticeConnection(ctx, tx, p, a.Name, hostOf(in.RedirectURI)); err != nil {
		return newConnection{}, err
	}
	to, err := url.Parse(in.RedirectURI)
	if err != nil {
		return newConnection{}, fmt.Errorf("address of assistant %s: %w", a.ID, err)
	}
	q := to.Query()
	q.Set("code", code)
	q.Set("iss", r.Config.PublicURL)
	if in.State != "" {
		q.Set("state", in.State)
	}
	to.RawQuery = q.Encode()
	return newConnection{id, to.String()}, nil
}

func (r *Room) noticeConnection(ctx context.Context, tx *db.Tx, p people.Person, name, host string) error {
	return r.people.Notice(ctx, tx, p, "new_connection", "host", host, "name", name)
}
