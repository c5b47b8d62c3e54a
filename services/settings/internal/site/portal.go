package site

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/media"
)

// portalDoc is the document portal as it is stored.
type portalDoc struct {
	Path       string `json:"path"`
	StaffOut   bool   `json:"staff_out"`
	Require2FA bool   `json:"require_2fa"`
	IdleHours  int    `json:"idle_hours"`
	LogoID     *int64 `json:"logo_id"`
	// LogoURL is the logo's path on the site; empty without one.
	LogoURL     string `json:"logo_url,omitempty"`
	PoweredBy   bool   `json:"powered_by"`
	BookingPage bool   `json:"booking_page"`
	Host        string `json:"host"`
	// The result of the last check of the host; null before the first.
	HostReachable *bool      `json:"host_reachable"`
	HostHTTPS     *bool      `json:"host_https"`
	HostCheckedAt *time.Time `json:"host_checked_at"`
}

func (r *Room) publishPortal(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc portalDoc
	version, err := document.Read(ctx, tx, document.Portal, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.Portal, version, changed, r.portal(doc, db.Actor{}, false, nil))
}

// portal is the portal's settings.
type portal struct {
	Path        string `json:"path" doc:"The path under which the portal stands."`
	StaffOut    bool   `json:"staff_out" doc:"Staff who sign in are led to the portal, not to the administration."`
	Require2FA  bool   `json:"require_2fa" doc:"Everybody needs a second factor."`
	IdleHours   int    `json:"idle_hours" doc:"After how many hours without a call a session ends."`
	LogoID      *int64 `json:"logo_id" doc:"The id of the picture; null for none."`
	PoweredBy   bool   `json:"powered_by" doc:"Pages name the product."`
	BookingPage bool   `json:"booking_page" doc:"The stand-alone booking page is on."`
	Host        string `json:"host" doc:"The host of the portal; empty for that of the site."`

	URL             string     `json:"url" doc:"Where the portal stands now."`
	PrettyURLs      bool       `json:"pretty_urls" doc:"Addresses are paths without parameters."`
	PathStatus      *string    `json:"path_status" doc:"invalid, reserved or in_use; null while the path is free of everything else."`
	LogoURL         *string    `json:"logo_url" doc:"The address of the logo; null without one."`
	TwoFactor       bool       `json:"two_factor" doc:"The caller signs in with a second factor."`
	LoginProtection bool       `json:"login_protection" doc:"Attempts to sign in are limited."`
	SiteAdmin       bool       `json:"site_admin" doc:"The caller is a site administrator."`
	BookingURL      *string    `json:"booking_url" doc:"The stand-alone booking page; null while it is off."`
	HostReachable   *bool      `json:"host_reachable" doc:"null before the host was checked."`
	HostHTTPS       *bool      `json:"host_https" doc:"The host answered over https; null while it was not checked."`
	HostCheckedAt   *time.Time `json:"host_checked_at" doc:"When the host was last checked; null for never."`
	HostActive      bool       `json:"host_active" doc:"The portal has moved to its host."`
	document.Stamp
}

// RecordID names the document in the audit log.
func (portal) RecordID() string { return document.Portal }

func (r *Room) portal(doc portalDoc, who db.Actor, twoFactor bool, pathStatus *string) portal {
	p := portal{Path: doc.Path, StaffOut: doc.StaffOut, Require2FA: doc.Require2FA, IdleHours: doc.IdleHours, LogoID: doc.LogoID,
		PoweredBy: doc.PoweredBy, BookingPage: doc.BookingPage, Host: doc.Host, PrettyURLs: true, PathStatus: pathStatus,
		TwoFactor: twoFactor, LoginProtection: r.Config.RateFactor > 0, SiteAdmin: slices.Contains(who.Roles, auth.SiteAdmin),
		HostReachable: doc.HostReachable, HostHTTPS: doc.HostHTTPS, HostCheckedAt: doc.HostCheckedAt}
	p.URL = r.Config.PublicURL + "/" + doc.Path
	if host := r.activeHost(doc); host != "" {
		p.HostActive, p.URL = true, host
	}
	if logo := r.logoURL(doc); logo != "" {
		p.LogoURL = &logo
	}
	if doc.BookingPage {
		booking := p.URL + "/book"
		p.BookingURL = &booking
	}
	return p
}

// activeHost is the address of the host to which the portal has moved; "" for none.
func (r *Room) activeHost(doc portalDoc) string {
	if doc.Host == "" || r.isSite(doc.Host) || doc.HostReachable == nil || !*doc.HostReachable || doc.HostHTTPS == nil || !*doc.HostHTTPS {
		return ""
	}
	return "https://" + doc.Host
}

// PortalHost is the address of the host to which the portal has moved; "" while it stands at the site's own.
func (r *Room) PortalHost(ctx context.Context, tx *db.Tx) (string, error) {
	var doc portalDoc
	_, err := document.Read(ctx, tx, document.Portal, &doc)
	return r.activeHost(doc), err
}

// logoURL is the public address of the logo; "" without one.
func (r *Room) logoURL(doc portalDoc) string {
	if doc.LogoURL == "" {
		return ""
	}
	return r.Config.PublicURL + doc.LogoURL
}

// Letterhead is what stands above the mails of the site.
func (r *Room) Letterhead(ctx context.Context, tx *db.Tx) (mail.Business, error) {
	business, err := ReadBusiness(ctx, tx)
	if err != nil {
		return mail.Business{}, err
	}
	var doc portalDoc
	_, err = document.Read(ctx, tx, document.Portal, &doc)
	return mail.Business{Name: business.Name, Logo: r.logoURL(doc)}, err
}

// PortalURL is where the portal stands now.
func (r *Room) PortalURL(ctx context.Context, tx *db.Tx) (string, error) {
	var doc portalDoc
	_, err := document.Read(ctx, tx, document.Portal, &doc)
	return r.portal(doc, db.Actor{}, false, nil).URL, err
}

// IdleHours is after how many hours without a call a session ends.
func IdleHours(ctx context.Context, tx *db.Tx) (int, error) {
	var doc portalDoc
	_, err := document.Read(ctx, tx, document.Portal, &doc)
	return doc.IdleHours, err
}

// Reserved are the first segments of addresses that belong to the system.
var Reserved = []string{"v1", "mcp", "_ui", "f", "manage", "marketing", "account", "admin", "oauth", "docs", "book", "readyz"}

var pathPattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$`)

// Why the portal cannot have a path.
const (
	pathInvalid  = "invalid"
	pathReserved = "reserved"
	pathInUse    = "in_use"
)

// pathStatus is why the portal cannot have a path; nil when it can.
func (r *Room) pathStatus(ctx context.Context, tx *db.Tx, path string) (*string, error) {
	status := pathInUse
	switch {
	case !pathPattern.MatchString(path):
		status = pathInvalid
	case slices.Contains(Reserved, path):
		status = pathReserved
	default:
		if taken, err := r.pageAt(ctx, tx, path); err != nil || !taken {
			return nil, err
		}
	}
	return &status, nil
}

func (r *Room) getPortal(ctx context.Context, tx *db.Tx, _ op.None) (portal, error) {
	var doc portalDoc
	version, err := document.Read(ctx, tx, document.Portal, &doc)
	if err != nil {
		return portal{}, err
	}
	return r.portalFor(ctx, tx, doc, version)
}

// portalFor is the settings as the caller sees them, with the caller's second factor and rights.
func (r *Room) portalFor(ctx context.Context, tx *db.Tx, doc portalDoc, version int64) (portal, error) {
	status, err := r.pathStatus(ctx, tx, doc.Path)
	if err != nil {
		return portal{}, err
	}
	u, _ := r.Identity.User(tx.Who.UserID)
	p := r.portal(doc, tx.Who, u.GetTwoFactor(), status)
	p.Stamp = document.At(version)
	return p, nil
}

// updatePortal changes the portal's settings; keys that are left out stay. A path that belongs to something else is 409.
func (r *Room) updatePortal(ctx context.Context, tx *db.Tx, in struct {
	Path        opt.Value[string] `json:"path,omitzero" doc:"Lower-case letters, digits and hyphens, at most 50."`
	StaffOut    opt.Value[bool]   `json:"staff_out,omitzero" doc:"People with only the role staff work in the portal."`
	Require2FA  opt.Value[bool]   `json:"require_2fa,omitzero" by:"person" doc:"Everyone with a role in the service needs a second factor."`
	IdleHours   opt.Value[int]    `json:"idle_hours,omitzero" by:"person" enum:"1,8,24" doc:"After how many hours without a call a session ends."`
	LogoID      opt.Value[int64]  `json:"logo_id,omitzero" minimum:"1" nullable:"true" doc:"A picture of upload-media; null shows the business's name."`
	PoweredBy   opt.Value[bool]   `json:"powered_by,omitzero" doc:"Pages name the product."`
	BookingPage opt.Value[bool]   `json:"booking_page,omitzero" doc:"true switches the stand-alone booking page on."`
	Host        opt.Value[string] `json:"host,omitzero" by:"person" maxLength:"253" nullable:"true" doc:"Own (sub)domain; empty for none. The portal moves there once check-host passes."`
}) (portal, error) {
	publish := func(ctx context.Context, tx *db.Tx, changed []string) error {
		if err := r.publishPortal(ctx, tx, changed); err != nil {
			return err
		}
		if slices.Contains(changed, "require_2fa") || slices.Contains(changed, "idle_hours") {
			return publishAccess(ctx, tx, nil)
		}
		return nil
	}
	doc, version, err := document.Change(ctx, tx, document.Portal, publish, func(doc *portalDoc) (err error) {
		var taken *string
		if in.Path.Set && in.Path.V != doc.Path {
			if taken, err = r.pathStatus(ctx, tx, in.Path.V); err != nil {
				return err
			}
			if taken != nil && *taken == pathInvalid {
				return fault.Invalid("path", fault.NewProblem("slug", "must be 1 to 50 lower-case letters, digits and hyphens", "max", 50))
			}
			doc.Path = in.Path.V
		}
		if in.Host.Set {
			host := strings.ToLower(strings.TrimSpace(in.Host.V))
			if err := r.checkHostName(host); err != nil {
				return err
			}
			if host != doc.Host {
				doc.Host, doc.HostReachable, doc.HostHTTPS, doc.HostCheckedAt = host, nil, nil, nil
			}
		}
		if in.LogoID.Set {
			if err := doc.setLogo(ctx, tx, in.LogoID); err != nil {
				return err
			}
		}
		if taken != nil {
			return fault.Conflict(*taken, "This path belongs to something else.")
		}
		in.StaffOut.Apply(&doc.StaffOut)
		in.Require2FA.Apply(&doc.Require2FA)
		in.IdleHours.Apply(&doc.IdleHours)
		in.PoweredBy.Apply(&doc.PoweredBy)
		in.BookingPage.Apply(&doc.BookingPage)
		return nil
	})
	if err != nil {
		return portal{}, err
	}
	return r.portalFor(ctx, tx, doc, version)
}

// LockLogo locks the portal's settings, and answers with the id of the picture that is the logo; nil for none.
func LockLogo(ctx context.Context, tx *db.Tx) (*int64, error) {
	var doc portalDoc
	_, err := document.Lock(ctx, tx, document.Portal, &doc)
	return doc.LogoID, err
}

// setLogo sets or clears the logo; an unknown picture is 400. The document is locked, so the picture cannot be deleted meanwhile.
func (doc *portalDoc) setLogo(ctx context.Context, tx *db.Tx, id opt.Value[int64]) error {
	doc.LogoURL = ""
	id.ApplyPtr(&doc.LogoID)
	if doc.LogoID == nil {
		return nil
	}
	path, err := media.PathOf(ctx, tx, *doc.LogoID)
	if fault.From(err).Status == http.StatusNotFound {
		return fault.Invalid("logo_id", fault.Unknown())
	}
	doc.LogoURL = path
	return err
}

// portalPath reports whether the portal can have a path.
type portalPath struct {
	Path   string  `json:"path" doc:"The path that was asked about."`
	Status *string `json:"status" doc:"invalid, reserved or in_use; null when the path is free."`
	URL    string  `json:"url" doc:"The address that the portal would have."`
}

func (r *Room) checkPortalPath(ctx context.Context, tx *db.Tx, in struct {
	Path string `json:"path" required:"true" maxLength:"100"`
}) (portalPath, error) {
	status, err := r.pathStatus(ctx, tx, in.Path)
	return portalPath{Path: in.Path, Status: status, URL: r.Config.PublicURL + "/" + url.PathEscape(in.Path)}, err
}
