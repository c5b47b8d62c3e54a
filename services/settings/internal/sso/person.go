package sso

import (
	"context"
	"slices"
	"strings"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/team"
	"frontdesk/services/settings/internal/typed"
)

func signedInBy(issuer string) change.Set {
	return change.Set{"issuer": {Old: nil, New: issuer}}
}

// person finds the locked user who has an account: by issuer and subject, the first time by their verified address, else a role of their claim makes
// them. Their roles become those of the claim. A refusal says why nobody is let in, and is committed with its entry in the audit log.
func (r *Room) person(ctx context.Context, tx *db.Tx, who identity) (p people.Person, refusal, err error) {
	if _, err := roles.Lock(ctx, tx); err != nil {
		return p, nil, err
	}
	account := people.Account{Issuer: r.provider.issuer, Subject: who.Subject}
	p, err = people.LockByAccount(ctx, tx, account)
	if err == nil {
		return r.withRoles(ctx, tx, p, who)
	}
	if row.UnlessRefused(err) != nil {
		return p, nil, err
	}
	noRole := func(id int64) (people.Person, error, error) {
		return people.Person{}, fault.Refused("no_role", "Nobody here has this account. Ask an administrator to invite you."), r.auditRefusal(ctx, tx, id)
	}
	named := len(r.provider.roles) > 0
	email, wrong := typed.Email(who.Email)
	known := false
	if wrong.IsZero() {
		p, err = people.LockByEmail(ctx, tx, email)
		if row.UnlessRefused(err) != nil {
			return p, nil, err
		}
		known = err == nil
	}
	switch {
	// The person may have signed in for the first time twice at once.
	case known && p.Account == account:
		return r.withRoles(ctx, tx, p, who)
	case known && (!who.Verified || p.Issuer == account.Issuer):
		return people.Person{}, fault.Refused("account_taken", "Your address belongs to somebody here who signs in differently. Ask an administrator."), r.auditRefusal(ctx, tx, p.ID)
	case named && len(who.Roles) == 0:
		return noRole(p.ID)
	case known:
		return r.link(ctx, tx, p, account, who)
	case !named || !wrong.IsZero():
		return noRole(0)
	}
	name := strings.Join(strings.Fields(who.Name), " ")
	if name == "" || len([]rune(name)) > 100 || !typed.Line(name).IsZero() {
		name = email
	}
	if p, err = people.AddWithAccount(ctx, tx, email, name, who.Roles, account); err != nil {
		return p, nil, err
	}
	tx.Who.UserID, tx.Who.Label = p.ID, p.Name
	tx.Changed(change.Set{"roles": {Old: []string{}, New: p.Roles}})
	tx.Changed(signedInBy(account.Issuer))
	if err := r.noticeAdministrator(ctx, tx, nil, p); err != nil {
		return p, nil, err
	}
	return p, nil, op.Audit(ctx, tx, "create-user", "user", row.Key(p.ID))
}

// link gives a user whose address is verified the account, and tells them.
func (r *Room) link(ctx context.Context, tx *db.Tx, p people.Person, account people.Account, who identity) (people.Person, error, error) {
	p, err := people.SetAccount(ctx, tx, p, account)
	if err != nil {
		return p, nil, err
	}
	// Whoever was invited has come.
	if err := mailer.EndLinks(ctx, tx, mailer.Invitation, p.ID); err != nil {
		return p, nil, err
	}
	tx.Who.UserID, tx.Who.Label = p.ID, p.Name
	err = r.people.Notice(ctx, tx, p, "organization_account", "provider", r.Config.OIDCName)
	if err != nil {
		return p, nil, err
	}
	tx.Changed(signedInBy(account.Issuer))
	if err := op.Audit(ctx, tx, "link-organization-account", "user", row.Key(p.ID)); err != nil {
		return p, nil, err
	}
	return r.withRoles(ctx, tx, p, who)
}

// withRoles gives the locked user the roles of their claim in place of those of the team that they have. Without any they are signed out
// everywhere and refused, unless they are the last administrator.
func (r *Room) withRoles(ctx context.Context, tx *db.Tx, p people.Person, who identity) (_ people.Person, refusal, err error) {
	if len(r.provider.roles) == 0 {
		return p, nil, nil
	}
	next := slices.Clone(who.Roles)
	for _, name := range p.Roles {
		if !slices.Contains(roles.OfTeam, name) {
			next = append(next, name)
		}
	}
	switch err := roles.KeepsAdministrator(ctx, tx, p, next); {
	case row.UnlessRefused(err) != nil:
		return p, nil, err
	case err != nil:
		next = append([]string{roles.SiteAdmin}, next...)
	}
	if !slices.Equal(next, p.Roles) {
		before := p
		if p, err = people.SetRoles(ctx, tx, p, next); err != nil {
			return p, nil, err
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		tx.Changed(change.Set{"roles": {Old: before.Roles, New: p.Roles}})
		tx.Changed(signedInBy(r.provider.issuer))
		if err := op.Audit(ctx, tx, "set-staff-role", "user", row.Key(p.ID)); err != nil {
			return p, nil, err
		}
		if err := r.noticeAdministrator(ctx, tx, before.Roles, p); err != nil {
			return p, nil, err
		}
	}
	if slices.ContainsFunc(next, func(name string) bool { return slices.Contains(roles.OfTeam, name) }) {
		return p, nil, nil
	}
	if err := sessions.EndAll(ctx, tx, p.ID, nil); err != nil {
		return p, nil, err
	}
	return p, fault.Refused("no_role", "Your account gives you no role here any more. Ask an administrator."), r.auditRefusal(ctx, tx, p.ID)
}

// noticeAdministrator mails the other administrators if p has become one.
func (r *Room) noticeAdministrator(ctx context.Context, tx *db.Tx, before []string, p people.Person) error {
	if slices.Contains(before, roles.SiteAdmin) || !slices.Contains(p.Roles, roles.SiteAdmin) {
		return nil
	}
	return r.team.NoticeAdministrator(ctx, tx, p, "claim", "by", r.Config.OIDCName)
}

// byUser names a user in the path.
type byUser struct {
	User int64 `json:"user" minimum:"1"`
}

// unlink parts a user from their account. Errors: 403 for a user with more rights than the caller's, 404 for an unknown one, 409 for the last administrator.
func (r *Room) unlink(ctx context.Context, tx *db.Tx, in byUser) (op.None, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return op.None{}, err
	}
	p, err := team.ManageUser(ctx, tx, in.User)
	if err != nil {
		return op.None{}, err
	}
	if p.Issuer == "" {
		return op.None{}, nil
	}
	if !p.HasPassword {
		if err := roles.KeepsAdministrator(ctx, tx, p, nil); err != nil {
			return op.None{}, err
		}
	}
	tx.Changed(change.Set{"issuer": {Old: p.Issuer, New: nil}})
	if _, err := people.SetAccount(ctx, tx, p, people.Account{}); err != nil {
		return op.None{}, err
	}
	return op.None{}, sessions.EndAll(ctx, tx, p.ID, nil)
}
