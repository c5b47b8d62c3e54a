package support

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
)

// check says whether one thing about the installation is as it has to be.
type check struct {
	Name   string `json:"name" enum:"address,proxy,mail,zone,disk" doc:"What was looked at."`
	OK     bool   `json:"ok" doc:"Nothing has to be done."`
	Found  string `json:"found" doc:"What was found, in short."`
	Wanted string `json:"wanted" doc:"What is wanted instead; empty where there is nothing to name."`
	Hint   string `json:"hint" doc:"What to change, in the caller's language; empty if nothing has to be done."`
}

//go:embed text/*.json
var folder embed.FS

// readers gives the hints in a language.
var readers = web.Readers(folder)

// say is a text in the caller's language, with {name} replaced by the value that follows the name.
func say(ctx context.Context, key string, pairs ...any) string {
	return readers(lang.Preferred(op.Header(ctx).Get("Accept-Language")), "", time.UTC).T(key, pairs...)
}

// wrong is a check that failed, with the text that says what to change.
func wrong(ctx context.Context, name, key, found, wanted string) check {
	return check{Name: name, Found: found, Wanted: wanted, Hint: say(ctx, key, "found", found, "wanted", wanted)}
}

// checks looks at what can be set wrong outside of the settings.
func (r *Room) checks(ctx context.Context, tx *db.Tx) ([]check, error) {
	address, err := r.checkAddress(ctx, tx)
	if err != nil {
		return nil, err
	}
	proxy, err := r.checkProxy(ctx, tx)
	if err != nil {
		return nil, err
	}
	post, err := r.checkMail(ctx, tx)
	if err != nil {
		return nil, err
	}
	return []check{address, proxy, post, r.checkZone(ctx), checkDisk(ctx, os.TempDir())}, nil
}

// checkAddress compares the public address with the one at which the caller's browser is.
func (r *Room) checkAddress(ctx context.Context, tx *db.Tx) (check, error) {
	portal, err := r.site.PortalURL(ctx, tx)
	if err != nil {
		return check{}, err
	}
	public, seen := origin(r.Config.PublicURL), browserAt(ctx)
	if seen != public && seen != origin(portal) {
		return wrong(ctx, "address", "address", seen, public), nil
	}
	if f := r.certificate.flaw(); f != (flaw{}) {
		return wrong(ctx, "address", f.key, f.found, public), nil
	}
	return check{Name: "address", OK: true, Found: seen, Wanted: public}, nil
}

// browserAt is the origin of the page that sent the request. A program names none: then it is the address that the request was sent to.
func browserAt(ctx context.Context) string {
	h := op.Header(ctx)
	if page := origin(cmp.Or(h.Get("Origin"), h.Get("Referer"))); page != "" {
		return page
	}
	return origin(cmp.Or(h.Get("X-Forwarded-Proto"), "http") + "://" + op.Host(ctx))
}

// origin is scheme, host and port of an address. All names of this machine are one. It is empty for what is no address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		host = "localhost"
	}
	if port := u.Port(); port != "" && !(u.Scheme == "https" && port == "443") && !(u.Scheme == "http" && port == "80") {
		host += ":" + port
	}
	return u.Scheme + "://" + host
}

// isHere reports whether an origin is on this machine.
func isHere(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Hostname() == "localhost"
}

// checkProxy compares the proxy header of the general settings with those that came along.
func (r *Room) checkProxy(ctx context.Context, tx *db.Tx) (check, error) {
	header, seen, err := r.site.Proxy(ctx, tx)
	found := strings.Join(seen, ", ")
	peer, ours := r.Auth.Peer(op.Header(ctx))
	switch {
	case err != nil:
		return check{}, err
	// The gateway removes what such a proxy sends of the usual headers. Then it shows by this: the request came from the gateway's own machine,
	// and the browser is not there.
	case !ours && (len(seen) > 0 || peer.IsLoopback() && !isHere(browserAt(ctx))):
		return wrong(ctx, "proxy", "untrusted", peer.String(), "SVC_TRUSTED_PROXIES"), nil
	case header != "" && !slices.Contains(seen, header):
		return wrong(ctx, "proxy", "unseen", found, header), nil
	case header == "" && len(seen) > 0:
		return wrong(ctx, "proxy", "proxy", found, ""), nil
	}
	return check{Name: "proxy", OK: true, Found: found, Wanted: header}, nil
}

// checkMail says where mails go, and whether they do.
func (r *Room) checkMail(ctx context.Context, tx *db.Tx) (check, error) {
	server, page := mail.Server(r.Config.SMTPURL)
	switch {
	case server == "":
		return wrong(ctx, "mail", "no_mail", "", "SVC_SMTP_URL"), nil
	case page != "":
		return wrong(ctx, "mail", "sink", page, "SVC_SMTP_URL"), nil
	}
	var waiting bool
	err := tx.QueryRow(ctx, `select exists (select from mail where status = 'retrying' and created_at < $1::timestamptz - interval '10 minutes')`, tx.Now).Scan(&waiting)
	if err != nil {
		return check{}, fmt.Errorf("look for mails that wait: %w", err)
	}
	if waiting {
		return wrong(ctx, "mail", "mail", server, ""), nil
	}
	return check{Name: "mail", OK: true, Found: server}, nil
}

// checkZone finds a business that was left in the zone of servers.
func (r *Room) checkZone(ctx context.Context) check {
	zone := r.Config.Timezone
	if zone == "UTC" || zone == "GMT" || zone == "Local" || strings.HasPrefix(zone, "Etc/") {
		return wrong(ctx, "zone", "zone", zone, "Europe/Brussels")
	}
	return check{Name: "zone", OK: true, Found: zone}
}

// leastFree is how many bytes have to be free for downloads and imports: eight of the largest.
const leastFree = 1 << 30

// checkDisk looks at the room in a folder.
func checkDisk(ctx context.Context, folder string) check {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return check{Name: "disk", OK: true}
	}
	free := fs.Bavail * uint64(fs.Bsize)
	if free < leastFree {
		return wrong(ctx, "disk", "disk", "< 1 GB", folder)
	}
	if free < 10*leastFree {
		return check{Name: "disk", OK: true, Found: "> 1 GB"}
	}
	return check{Name: "disk", OK: true, Found: "> 10 GB"}
}
