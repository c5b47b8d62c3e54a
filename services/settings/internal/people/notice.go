package people

import (
	"context"
	"embed"
	"strings"
	"time"
	"unicode"

	"github.com/mileusna/useragent"

	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
)

//go:embed text/*.json
var folder embed.FS

// readers gives the texts of mails about accounts in a language.
var readers = web.Readers(folder)

// Letter begins the mail to p about their account that has the texts <key>_subject and <key>_text, in the language of p, whom the reader is for.
// Pairs fill them in. Its kind is the key up to the first dot.
func (r *Room) Letter(p Person, key string, pairs ...any) (mail.Content, *web.Reader) {
	chosen, _ := r.Identity.User(p.ID)
	language, country := r.Site.Language(chosen)
	t := readers(language, country, r.Config.Zone)
	kind, _, _ := strings.Cut(key, ".")
	return mail.Content{
		Kind: "account." + kind, To: mail.Person{Name: p.Name, Address: p.Email}, Language: t.Language, Subject: t.T(key+"_subject", pairs...),
		Greeting: t.T("hello", "name", p.Name), Paragraphs: []string{t.T(key+"_text", pairs...)},
	}, t
}

// Notice mails a user what has just happened to their account, and what to do if it was not them. Key and pairs are those of Letter.
func (r *Room) Notice(ctx context.Context, tx *db.Tx, p Person, key string, pairs ...any) error {
	c, t := r.Letter(p, key, pairs...)
	c.Paragraphs = append(c.Paragraphs, t.T("happened", "when", Moment(tx, t, tx.Now), "origin", Origin(ctx, tx, t)))
	c.Closing = []string{t.T("not_you")}
	c.Buttons = []mail.Link{{Text: t.T("see_account"), URL: r.Config.PublicURL + "/account"}}
	return r.mails.Queue(ctx, tx, c)
}

// Moment is a day and a time that follow from when the transaction runs: "Tuesday 24 November 2026, 14:30".
func Moment(tx *db.Tx, t *web.Reader, at time.Time) string {
	moment := t.Date(at) + ", " + t.Clock(at)
	tx.Moments = append(tx.Moments, moment)
	return moment
}

// Origin says from where the actor acts, as far as that is known.
func Origin(ctx context.Context, tx *db.Tx, t *web.Reader) string {
	var parts []string
	if name := BrowserName(ctx); name != "" {
		parts = append(parts, t.T("with_browser", "browser", name))
	}
	if tx.Who.Address != "" {
		parts = append(parts, t.T("from_address", "address", tx.Who.Address))
	}
	return strings.Join(parts, "")
}

// BrowserName is what the request's browser calls itself, such as "Firefox on Linux"; empty for a program that says nothing.
func BrowserName(ctx context.Context) string {
	agent := op.Header(ctx).Get("User-Agent")
	ua := useragent.Parse(agent)
	name := ua.Name
	if ua.OS != "" && name != "" {
		name += " on " + ua.OS
	}
	if name == "" {
		name = agent
	}
	name = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name), "")
	if r := []rune(name); len(r) > browserLength {
		name = string(r[:browserLength])
	}
	return name
}

// browserLength is how much of a browser's name is kept, in characters.
const browserLength = 80
