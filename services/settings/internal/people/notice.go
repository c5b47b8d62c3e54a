package people

import (
	"context"
	"strings"
	"unicode"

	"github.com/mileusna/useragent"

	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
)

// Notice mails a user what has just happened to their account, and what to do if it was not them.
func (r *Room) Notice(ctx context.Context, tx *db.Tx, p Person, kind, subject string, paragraphs ...string) error {
	return r.mails.Queue(ctx, tx, mail.Content{
		Kind: "account." + kind, To: mail.Person{Name: p.Name, Address: p.Email}, Subject: subject, Greeting: "Hello " + p.Name + ",",
		Paragraphs: append(paragraphs, "It happened on "+tx.Now.In(r.Config.Zone).Format("Monday 2 January 2006 at 15:04")+Origin(ctx, tx)+"."),
		Closing:    []string{"If it was not you, choose a new password at once, and tell an administrator."},
		Buttons:    []mail.Link{{Text: "Look at your account", URL: r.Config.PublicURL + "/account"}},
	})
}

// Origin says from where the actor acts, as far as that is known.
func Origin(ctx context.Context, tx *db.Tx) string {
	var parts []string
	if name := BrowserName(ctx); name != "" {
		parts = append(parts, " with "+name)
	}
	if tx.Who.Address != "" {
		parts = append(parts, " from "+tx.Who.Address)
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
