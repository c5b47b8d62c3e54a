package support

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/typed"
)

// support tells where requests for support go, and what goes along with one that asks for it.
type support struct {
	Live        bool        `json:"live" doc:"Requests reach the makers of the product. Without them they go to the site's own address."`
	Environment environment `json:"environment"`
}

// environment describes the installation, without data of anybody.
type environment struct {
	Version  string   `json:"version" doc:"The version of the product."`
	Go       string   `json:"go" doc:"The version of Go."`
	Postgres string   `json:"postgres" doc:"The version of PostgreSQL."`
	Timezone string   `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	URL      string   `json:"url" doc:"The public address."`
	Apps     []string `json:"apps" doc:"Those that are on."`
}

func (r *Room) getSupport(ctx context.Context, tx *db.Tx, _ op.None) (support, error) {
	e, err := r.environment(ctx, tx)
	return support{Environment: e}, err
}

func (r *Room) environment(ctx context.Context, tx *db.Tx) (environment, error) {
	e := environment{Version: product, Go: runtime.Version(), Timezone: r.Config.Timezone, URL: r.Config.PublicURL, Apps: []string{}}
	for _, a := range r.Apps.State().Apps {
		if r.Apps.On(a.ID) {
			e.Apps = append(e.Apps, a.ID)
		}
	}
	if err := tx.QueryRow(ctx, `show server_version`).Scan(&e.Postgres); err != nil {
		return e, fmt.Errorf("read the version of Postgres: %w", err)
	}
	return e, nil
}

// requestSupport mails a person's request to the business, with the person as the address for answers.
func (r *Room) requestSupport(ctx context.Context, tx *db.Tx, in struct {
	Type               string `json:"type" required:"true" enum:"question,bug,idea" doc:"What the request is about."`
	Subject            string `json:"subject" required:"true" maxLength:"150" doc:"One line."`
	Message            string `json:"message" required:"true" maxLength:"5000" doc:"The request in words."`
	ReplyTo            string `json:"reply_to,omitempty" maxLength:"190" doc:"The caller's own address when left out."`
	IncludeEnvironment bool   `json:"include_environment,omitempty" doc:"true sends what get-support shows along."`
}) (mailer.Done, error) {
	subject, message := strings.TrimSpace(in.Subject), strings.TrimSpace(in.Message)
	wrong := fault.Problems{}
	wrong.Add("subject", form.Name(subject, 150))
	if message == "" {
		wrong.Add("message", fault.Empty())
	}
	if err := wrong.Err(); err != nil {
		return mailer.Done{}, err
	}
	p, err := people.ByID(ctx, tx, tx.Who.UserID)
	if err != nil {
		return mailer.Done{}, err
	}
	replyTo := p.Email
	if in.ReplyTo != "" {
		var problem fault.Problem
		if replyTo, problem = typed.Email(in.ReplyTo); !problem.IsZero() {
			return mailer.Done{}, fault.Invalid("reply_to", problem)
		}
	}
	rows := []mail.Row{{Label: "Type", Value: in.Type}, {Label: "Version", Value: product}}
	if in.IncludeEnvironment {
		e, err := r.environment(ctx, tx)
		if err != nil {
			return mailer.Done{}, err
		}
		rows = append(rows, mail.Row{Label: "Go", Value: e.Go}, mail.Row{Label: "Postgres", Value: e.Postgres},
			mail.Row{Label: "Zone", Value: e.Timezone}, mail.Row{Label: "Address", Value: e.URL}, mail.Row{Label: "Apps", Value: strings.Join(e.Apps, ", ")})
	}
	return mailer.Done{OK: true}, r.mailBusiness(ctx, tx, mail.Content{Kind: "support.request", Subject: subject, Paragraphs: strings.Split(message, "\n\n"), Rows: rows, ReplyTo: replyTo})
}

// deactivationFeedback mails the business why somebody leaves.
func (r *Room) deactivationFeedback(ctx context.Context, tx *db.Tx, in struct {
	Reason string `json:"reason" required:"true" enum:"temporary,missing_feature,too_hard,not_working,other_tool,other" doc:"Why the installation is given up."`
	Text   string `json:"text,omitempty" maxLength:"1000" doc:"More about it, in words."`
}) (mailer.Done, error) {
	c := mail.Content{Kind: "feedback.deactivate", Subject: "Feedback: " + strings.ReplaceAll(in.Reason, "_", " "),
		Rows: []mail.Row{{Label: "Reason", Value: in.Reason}, {Label: "Version", Value: product}}}
	if text := strings.TrimSpace(in.Text); text != "" {
		c.Paragraphs = strings.Split(text, "\n\n")
	}
	return mailer.Done{OK: true}, r.mailBusiness(ctx, tx, c)
}

// mailBusiness queues a mail to the address of the business.
func (r *Room) mailBusiness(ctx context.Context, tx *db.Tx, c mail.Content) error {
	business, err := site.ReadBusiness(ctx, tx)
	if err != nil {
		return err
	}
	c.To = mail.Person{Name: business.Name, Address: business.Email}
	c.Footer = []string{"Somebody of the team sent this from the app."}
	return r.mails.Queue(ctx, tx, c)
}

// guide is how far the guide for a new site has come, as it is stored.
type guide struct {
	Done      bool `json:"done"`
	Dismissed bool `json:"dismissed"`
}

// setup is the guide, with what this request shows of the installation.
type setup struct {
	Done      bool    `json:"done" doc:"All steps are finished."`
	Dismissed bool    `json:"dismissed" doc:"Somebody has put the guide away."`
	Checks    []check `json:"checks" doc:"Whether the installation is set up as it has to be, as far as this request shows."`
}

// RecordID names the document in the audit log.
func (setup) RecordID() string { return document.Setup }

func (r *Room) setup(ctx context.Context, tx *db.Tx, g guide) (setup, error) {
	checks, err := r.checks(ctx, tx)
	return setup{g.Done, g.Dismissed, checks}, err
}

func (r *Room) getSetup(ctx context.Context, tx *db.Tx, _ op.None) (setup, error) {
	var g guide
	if _, err := document.Read(ctx, tx, document.Setup, &g); err != nil {
		return setup{}, err
	}
	return r.setup(ctx, tx, g)
}

func (r *Room) updateSetup(ctx context.Context, tx *db.Tx, in struct {
	Done      opt.Value[bool] `json:"done,omitzero" doc:"All steps are finished."`
	Dismissed opt.Value[bool] `json:"dismissed,omitzero" doc:"The guide is put away."`
}) (setup, error) {
	g, _, err := document.Change(ctx, tx, document.Setup, nil, func(g *guide) error {
		in.Done.Apply(&g.Done)
		in.Dismissed.Apply(&g.Dismissed)
		return nil
	})
	if err != nil {
		return setup{}, err
	}
	return r.setup(ctx, tx, g)
}
