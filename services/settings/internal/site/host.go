package site

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/secrets"
)

// checkHostName refuses what is no name of a public host; "" is fine.
func (r *Room) checkHostName(host string) error {
	if host == "" {
		return nil
	}
	if strings.ContainsAny(host, "/:@?#") {
		return fault.Invalid("host", fault.NewProblem("host", "must be a host name alone"))
	}
	if r.isSite(host) {
		return fault.Invalid("host", fault.NewProblem("own", "must be another host than the site's, whose pages stand there"))
	}
	if err := fetch.CheckURL("https://"+host+"/", fetch.Options{Local: r.Config.WebhookLocal, Allow: r.Config.Receivers}); err != nil {
		return fault.Invalid("host", fetch.Problem("host", err))
	}
	return nil
}

// isSite reports whether a host is that of the site itself. The portal takes all paths of its host.
func (r *Room) isSite(host string) bool {
	u, err := url.Parse(r.Config.PublicURL)
	return err == nil && strings.EqualFold(u.Hostname(), strings.TrimSuffix(host, "."))
}

// hostProof shows that an address leads to this installation.
type hostProof struct {
	Proof string `json:"proof" doc:"What proves that the host leads here."`
}

// proof signs a nonce with a key that only the replicas of this installation have.
func (r *Room) proof(nonce string) string {
	m := hmac.New(sha256.New, r.Keys.For("portal host"))
	m.Write([]byte(nonce))
	return hex.EncodeToString(m.Sum(nil))
}

func (r *Room) hostProof(_ context.Context, _ *db.DB, in struct {
	Nonce string `json:"nonce" required:"true" minLength:"16" maxLength:"64"`
}) (hostProof, error) {
	return hostProof{r.proof(in.Nonce)}, nil
}

// checkPortalHost asks the host for a proof that it leads to this installation, over the public internet as a visitor would,
// and stores the result. Without a host it is 409 no_host.
func (r *Room) checkPortalHost(ctx context.Context, d *db.DB, _ op.None) (portal, error) {
	var doc portalDoc
	err := d.Read(ctx, func(tx *db.Tx) error {
		_, err := document.Read(ctx, tx, document.Portal, &doc)
		return err
	})
	if err != nil {
		return portal{}, err
	}
	if doc.Host == "" {
		return portal{}, fault.Conflict("no_host", "No host is set.")
	}
	asked := doc.Host
	reachable, https := r.reach(ctx, asked)
	var out portal
	err = d.Do(ctx, func(tx *db.Tx) error {
		doc, version, err := document.Change(ctx, tx, document.Portal, r.publishPortal, func(doc *portalDoc) error {
			// The result is that of the host which was asked, not of one that was set meanwhile.
			if doc.Host == asked {
				doc.HostReachable, doc.HostHTTPS, doc.HostCheckedAt = &reachable, &https, &tx.Now
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := op.Audit(ctx, tx, "check-portal-host", "settings", document.Portal); err != nil {
			return err
		}
		out, err = r.portalFor(ctx, tx, doc, version)
		return err
	})
	return out, err
}

// reach reports whether a host answers over https with a certificate that browsers accept, and whether it is reachable in
// that this installation answers there.
func (r *Room) reach(ctx context.Context, host string) (reachable, https bool) {
	nonce, _ := secrets.New()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v1/settings/portal/proof?nonce="+nonce, nil)
	if err != nil {
		return false, false
	}
	res, err := r.client.Do(req)
	if err != nil {
		return false, false
	}
	defer res.Body.Close()
	var answer hostProof
	ok := res.StatusCode == http.StatusOK && json.NewDecoder(res.Body).Decode(&answer) == nil &&
		hmac.Equal([]byte(answer.Proof), []byte(r.proof(nonce)))
	return ok, true
}
