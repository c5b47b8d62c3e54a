package settings

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// takeout is where all of the business's data leaves in one file.
type takeout struct {
	gateway string
	auth    *auth.Auth
	client  *http.Client
	now     func() time.Time
}

// services whose takeouts are in the file, in its order. Each has /v1/exports/<service>.zip.
var services = []string{"contacts", "booking", "forms", "webhooks", "settings"}

// lists are those of this service. Secrets, sessions and keys are left out.
var lists = []op.List{
	{Name: "people", Query: `select id, login, name, email, roles, created_at, updated_at from person order by id`},
	{Name: "roles", Query: `select name, label, capabilities, visibility from role order by position, name`},
	{Name: "settings", Query: `select key, doc, updated_at from document where key in ('general', 'form-style', 'portal', 'privacy', 'api-access') order by key`},
	{Name: "pages", Query: `select id, title, slug, status, content, created_at, updated_at from page order by id`},
	{Name: "views", Query: `select id, entity, name, query, columns, shared, position, user_id, created_at, updated_at from saved_view order by id`},
	{Name: "pictures", Query: `select id, name, kind, width, height, encode(body, 'base64') as content, created_at from media order by id`},
	{Name: "mails", Query: `select id, recipient, subject, kind, status, error, created_at, sent_at from mail order by created_at, id`},
	{Name: "audit-log", Query: `select id, action, channel, actor_label, user_id, record_type, record_id, record_ids, outcome, changes, address, created_at from audit order by created_at, id`},
}

func newTakeout(k *app.Kit) takeout {
	return takeout{gateway: k.Config.Gateway(), auth: k.Auth, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}, now: time.Now}
}

func (t takeout) operations(set *op.Set) {
	op.AddTakeout(set, op.Op{ID: "export-all-of-settings", Route: "GET /exports/settings.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export the people of the team, the site's pages, its mails and the audit log as a zip file."}, lists...)
	op.AddArchive(set, op.Op{ID: "export-everything", Route: "GET /exports/everything.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export everything as one zip file: each list as CSV and as JSON, with what is in the trash and what was taken for spam, and manifest.json with the rows and the sum of each file. " +
			"Each service's lists show one state of its data."}, "everything.zip", t.collect)
}

// collect joins the takeouts of all services. It asks for them by the gateway with the caller's own session, so each decides and notes it itself. The
// file begins when all of them are here: a service that does not answer is said, instead of a part of the data.
func (t takeout) collect(ctx context.Context, to func() io.Writer) error {
	var parts []*zip.Reader
	for _, service := range services {
		file, err := os.CreateTemp("", "frontdesk-takeout-")
		if err != nil {
			return fmt.Errorf("no temporary file for a takeout: %w", err)
		}
		defer file.Close()
		if err := os.Remove(file.Name()); err != nil { // nothing is left of it when the process dies
			return err
		}
		part, err := t.fetch(ctx, service, file)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	z, m := zip.NewWriter(to()), op.Manifest{Version: 1, MadeAt: t.now()}
	for _, part := range parts {
		for _, f := range part.File {
			if f.Name == op.ManifestName {
				of, err := manifestOf(f)
				if err != nil {
					return err
				}
				m.Lists = append(m.Lists, of.Lists...)
			} else if err := z.Copy(f); err != nil {
				return err
			}
		}
	}
	return m.Close(z)
}

// fetch stores the takeout of a service in file.
func (t takeout) fetch(ctx context.Context, service string, file *os.File) (*zip.Reader, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.gateway+"/v1/exports/"+service+".zip", nil)
	if err != nil {
		return nil, err
	}
	if err := op.Onward(ctx, t.auth, req); err != nil {
		return nil, err
	}
	missing := fault.New(http.StatusServiceUnavailable, "svc_unavailable", "The service "+service+" does not answer, so nothing was exported. Try again in a moment.", "service", service)
	res, err := t.client.Do(req)
	if err != nil {
		return nil, missing
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return nil, fault.RateLimited(time.Minute)
	case res.StatusCode != http.StatusOK:
		return nil, missing
	}
	size, err := io.Copy(file, res.Body)
	if err != nil {
		return nil, missing
	}
	part, err := zip.NewReader(file, size)
	if err != nil {
		return nil, missing
	}
	return part, nil
}

func manifestOf(f *zip.File) (m op.Manifest, err error) {
	r, err := f.Open()
	if err != nil {
		return m, err
	}
	defer r.Close()
	err = json.NewDecoder(r).Decode(&m)
	return m, err
}
