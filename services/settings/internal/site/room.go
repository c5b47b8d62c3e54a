package site

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// Room keeps the settings of the site.
type Room struct {
	*app.Kit
	// pageAt reports whether a page has an address.
	pageAt func(ctx context.Context, tx *db.Tx, slug string) (bool, error)
	// client asks hosts that administrators name.
	client *http.Client
}

func New(k *app.Kit, pageAt func(ctx context.Context, tx *db.Tx, slug string) (bool, error)) *Room {
	return &Room{k, pageAt, fetch.Client(fetch.Options{Local: k.Config.WebhookLocal, Allow: k.Config.Receivers})}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Run: []func(context.Context){r.announce}, Published: []app.Published{
		document.Record(proto.SiteTopic, document.General, document.General, r.publishGeneral),
		document.Record(proto.SiteTopic, document.Portal, document.Portal, r.publishPortal),
		document.Record(proto.SiteTopic, document.Privacy, document.Privacy, publishPrivacy),
		document.Record(proto.SiteTopic, document.FormStyle, document.FormStyle, publishFormStyle),
		// The portal is locked before api-access everywhere.
		document.SumRecord(proto.IdentityTopic, auth.AccessKey, document.Portal, document.APIAccess, publishAccess),
		document.Record(proto.SiteTopic, document.APIAccess, document.Portal, publishAccess),
	}}
}

// announce writes into the log of the process where the team begins.
func (r *Room) announce(ctx context.Context) {
	var portal struct{ URL string }
	r.Site.Read(document.Portal, &portal)
	slog.InfoContext(ctx, "the team signs in at "+cmp.Or(portal.URL, r.Config.PublicURL+"/admin"))
	<-ctx.Done()
}

// First are the documents of a new site. apiRoles reach the API with an application password.
func (r *Room) First(apiRoles ...string) map[string]any {
	return map[string]any{
		document.General:   generalDoc{Business: Business{Name: "Frontdesk", Email: r.Config.AdminEmail}, Currency: "EUR", Country: "BE"},
		document.Portal:    portalDoc{Path: "team", IdleHours: 8},
		document.Privacy:   privacyDoc{},
		document.FormStyle: formStyle{},
		document.APIAccess: accessDoc{Roles: apiRoles},
	}
}

// Settings declares the operations on the documents.
func (r *Room) Settings(set *op.Set) {
	op.Add(set, op.Op{ID: "get-form-style", Route: "GET /settings/form-style", Perm: auth.ViewContacts, Doc: "Get how forms and the booking widget look.",
		Use: "Answers with what was set; what is missing follows the theme."}, getFormStyle)
	op.Add(set, op.Op{ID: "update-form-style", Undo: op.Undo{By: "update-form-style"}, Versioned: true, Route: "PATCH /settings/form-style", Perm: auth.ManageCRM, Idempotent: true, Record: "settings",
		Doc: "Change how forms and the booking widget look.",
		Use: "What is left out stays; an empty text or null returns to the theme. All forms and the widget change at once. Answers with the style."}, updateFormStyle)
	op.Add(set, op.Op{ID: "get-general-settings", Route: "GET /settings/general", Perm: auth.ManageCRM, Doc: "Get the business, its currency and country, and the proxy header.",
		Use: "Use it to learn name, address, currency, country and time zone of the business."}, r.getGeneral)
	op.Add(set, op.Op{ID: "update-general-settings", Undo: op.Undo{By: "update-general-settings"}, Versioned: true, Route: "PATCH /settings/general", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Change the general settings.",
		Use: "What is left out stays. Answers with the settings."}, r.updateGeneral)
	op.Add(set, op.Op{ID: "get-portal-settings", Route: "GET /settings/portal", Perm: auth.ManageCRM, Doc: "Get the portal's settings.",
		Use: "Answers with addresses, sign-out and second factor, and whether the booking page is on."}, r.getPortal)
	op.Add(set, op.Op{ID: "update-portal-settings", Undo: op.Undo{By: "update-portal-settings"}, Versioned: true, Route: "PATCH /settings/portal", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc:   "Change the portal's settings.",
		Use:   "What is left out stays. Another path moves the team's sign-in. Answers with the settings.",
		Fails: op.Fails{"svc_conflict reserved": "The path belongs to the platform.", "svc_conflict in_use": "The path belongs to a page."}}, r.updatePortal)
	op.AddOutside(set, op.Op{ID: "check-portal-host", Undo: op.Undo{Never: op.NothingStays}, Route: "POST /settings/portal/check-host", Perm: auth.ManageCRM, Record: "settings",
		Outside: true, Doc: "Check that the portal's host leads here. The portal moves there once it does.",
		Use:   "It asks that host over https. Answers with the portal's settings, where host_reachable and host_https say how it went.",
		Fails: op.Fails{"svc_conflict no_host": "No host is set."}}, r.checkPortalHost)
	op.AddOutside(set, op.Op{ID: "portal-host-proof", Route: "GET /settings/portal/proof", Perm: op.Public, Ability: "-",
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "Prove to check-portal-host that an address leads to this installation."}, r.hostProof)
	op.Add(set, op.Op{ID: "check-portal-path", Route: "GET /settings/portal/path", Perm: auth.ManageCRM, Doc: "Check whether the portal can have a path.",
		Use: "Use it before update-portal-settings. status is null when the path is free."}, r.checkPortalPath)
	op.Add(set, op.Op{ID: "get-privacy-settings", Route: "GET /settings/privacy", Perm: auth.ManageCRM, Doc: "Get for how long data is kept.",
		Use: "Answers with days per kind of data."}, getPrivacy)
	op.Add(set, op.Op{ID: "update-privacy-settings", Undo: op.Undo{By: "update-privacy-settings"}, Versioned: true, Route: "PATCH /settings/privacy", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "settings",
		Doc: "Choose whether removing the installation deletes its data.",
		Use: "With delete_on_uninstall all data is lost when the installation is removed. Answers with the settings."}, updatePrivacy)
}

// Facts declares the operation by which everybody of the team reads facts about the site.
func (r *Room) Facts(set *op.Set) {
	op.Add(set, op.Op{ID: "get-site", Route: "GET /site", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Get name, zone, currency and addresses of the business, for those who may not read its settings."}, r.getSite)
}
