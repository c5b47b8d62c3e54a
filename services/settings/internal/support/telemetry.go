package support

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/typed"
)

// telemetryDoc is the document telemetry as it is stored.
type telemetryDoc struct {
	Stats       bool        `json:"stats"`
	Profile     bool        `json:"profile"`
	ProfileData profileData `json:"profile_data"`
	// Confirmed is true once the person behind the profile's address has agreed by mail.
	Confirmed bool `json:"confirmed"`
	// Link is the only one that confirms the address; nil while none is awaited.
	Link     *uuid.UUID `json:"link"`
	LastSent *time.Time `json:"last_sent"`
}

// profileData is the company profile for news about the product.
type profileData struct {
	Company  string `json:"company" doc:"The name of the company."`
	Website  string `json:"website" doc:"The web address; empty for none."`
	Name     string `json:"name" doc:"The name of the person to write to."`
	Email    string `json:"email" doc:"The address to write to."`
	Sector   string `json:"sector" doc:"What the company does."`
	TeamSize string `json:"team_size" doc:"How many people work there."`
}

// agreed is what other services read of the document: not the profile.
type agreed struct {
	Stats   bool `json:"stats"`
	Profile bool `json:"profile"`
}

func (d telemetryDoc) agreed() agreed { return agreed{d.Stats, d.Profile} }

// publishTelemetry publishes what a person has agreed to.
func publishTelemetry(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc telemetryDoc
	version, err := document.Read(ctx, tx, document.Telemetry, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.Telemetry, version, changed, doc.agreed())
}

// telemetry is what a person has agreed to, and exactly what would be sent.
type telemetry struct {
	Stats       bool        `json:"stats" doc:"Anonymous statistics of use, once a week."`
	Profile     bool        `json:"profile" doc:"Company profile, for news about the product."`
	ProfileData profileData `json:"profile_data"`
	LastSent    *time.Time  `json:"last_sent" doc:"Always null: nothing is sent."`
	Live        bool        `json:"live" doc:"There is somewhere to send it to. This build has none, so nothing is ever sent."`
	Payload     payload     `json:"payload" doc:"Exactly what the statistics are."`
	document.Stamp
}

// RecordID names the document in the audit log.
func (telemetry) RecordID() string { return document.Telemetry }

// payload is the weekly statistics.
type payload struct {
	Version string          `json:"version" doc:"The version of the product."`
	Apps    map[string]bool `json:"apps" doc:"App and whether it is on."`
	Users   int             `json:"users" doc:"Users with a role in the service."`
	Pages   int             `json:"pages" doc:"How many pages there are."`
}

// product is the version of the interface and of the product.
const product = "1.0.0"

func (r *Room) telemetry(ctx context.Context, tx *db.Tx, doc telemetryDoc, version int64) (telemetry, error) {
	out := telemetry{Stamp: document.At(version), Stats: doc.Stats, Profile: doc.Profile, ProfileData: doc.ProfileData, LastSent: doc.LastSent,
		Payload: payload{Version: product, Apps: map[string]bool{}, Users: len(r.Identity.Team())}}
	for _, a := range r.Apps.State().Apps {
		out.Payload.Apps[a.ID] = r.Apps.On(a.ID)
	}
	if err := tx.QueryRow(ctx, `select count(*) from page`).Scan(&out.Payload.Pages); err != nil {
		return out, fmt.Errorf("count pages: %w", err)
	}
	return out, nil
}

func (r *Room) getTelemetry(ctx context.Context, tx *db.Tx, _ op.None) (telemetry, error) {
	var doc telemetryDoc
	version, err := document.Read(ctx, tx, document.Telemetry, &doc)
	if err != nil {
		return telemetry{}, err
	}
	return r.telemetry(ctx, tx, doc, version)
}

// profileChange names what changes of the profile; the rest stays.
type profileChange struct {
	Company  opt.Value[string] `json:"company,omitzero" maxLength:"190" nullable:"true" doc:"The name of the company."`
	Website  opt.Value[string] `json:"website,omitzero" maxLength:"2048" nullable:"true" doc:"The web address; empty for none."`
	Name     opt.Value[string] `json:"name,omitzero" maxLength:"100" nullable:"true" doc:"The name of the person to write to."`
	Email    opt.Value[string] `json:"email,omitzero" maxLength:"190" nullable:"true" doc:"The address to write to."`
	Sector   opt.Value[string] `json:"sector,omitzero" maxLength:"100" nullable:"true" doc:"What the company does."`
	TeamSize opt.Value[string] `json:"team_size,omitzero" maxLength:"50" nullable:"true" doc:"How many people work there."`
}

// apply writes the change into d, and says what is wrong with it.
func (c profileChange) apply(d *profileData) fault.Problems {
	wrong := fault.Problems{}
	for _, f := range []struct {
		name string
		from opt.Value[string]
		to   *string
	}{{"company", c.Company, &d.Company}, {"name", c.Name, &d.Name}, {"sector", c.Sector, &d.Sector}, {"team_size", c.TeamSize, &d.TeamSize}} {
		f.from.Apply(f.to)
		wrong.Add("profile_data."+f.name, typed.Line(f.from.V))
	}
	var problem fault.Problem
	if c.Website.Apply(&d.Website); c.Website.V != "" {
		d.Website, problem = typed.Website(c.Website.V)
		wrong.Add("profile_data.website", problem)
	}
	if c.Email.Apply(&d.Email); c.Email.V != "" {
		d.Email, problem = typed.Email(c.Email.V)
		wrong.Add("profile_data.email", problem)
	}
	return wrong
}

// confirmLife is for how long the address of a profile can be confirmed.
const confirmLife = 7 * 24 * time.Hour

// updateTelemetry stores what a person agrees to. The profile counts once its address has confirmed by mail. A new address is
// asked by a new link, and so is one whose link has ended; the link of the one before ends, whoever asked for it.
func (r *Room) updateTelemetry(ctx context.Context, tx *db.Tx, in struct {
	Stats       opt.Value[bool] `json:"stats,omitzero" doc:"true agrees to send figures."`
	Profile     opt.Value[bool] `json:"profile,omitzero" doc:"true agrees to send the profile."`
	ProfileData profileChange   `json:"profile_data,omitzero"`
}) (telemetry, error) {
	var before, after telemetryDoc
	publish := func(ctx context.Context, tx *db.Tx, _ []string) error {
		return publishTelemetry(ctx, tx, document.Differences(before.agreed(), after.agreed()))
	}
	doc, version, err := document.Change(ctx, tx, document.Telemetry, publish, func(doc *telemetryDoc) error {
		before = *doc
		defer func() { after = *doc }()
		in.Stats.Apply(&doc.Stats)
		in.Profile.Apply(&doc.Profile)
		wrong := in.ProfileData.apply(&doc.ProfileData)
		email := doc.ProfileData.Email
		if doc.Profile && email == "" {
			wrong.Add("profile_data.email", fault.Required())
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		if doc.Profile != before.Profile || email != before.ProfileData.Email {
			doc.Confirmed, doc.Link = false, nil
		}
		return r.askToConfirm(ctx, tx, doc)
	})
	if err != nil {
		return telemetry{}, err
	}
	return r.telemetry(ctx, tx, doc, version)
}

// askToConfirm mails a link to the address of a profile that waits for its confirmation, unless one works that was mailed before.
func (r *Room) askToConfirm(ctx context.Context, tx *db.Tx, doc *telemetryDoc) error {
	if doc.Link != nil {
		// It ends with its time, and with the user who asked for it.
		works, err := mailer.LinkWorks(ctx, tx, *doc.Link)
		if err != nil {
			return err
		}
		if !works {
			doc.Link = nil
		}
	}
	if !doc.Profile || doc.Confirmed || doc.Link != nil {
		return nil
	}
	if _, err := people.Lock(ctx, tx, tx.Who.UserID); err != nil {
		return err
	}
	token, l, err := mailer.NewLink(ctx, tx, mailer.Telemetry, tx.Who.UserID, "", confirmLife)
	if err != nil {
		return err
	}
	doc.Link = &l.ID
	language, country := r.Site.Language(nil)
	t := readers(language, country, r.Config.Zone)
	return r.mails.Queue(ctx, tx, mail.Content{Kind: "telemetry.confirm", To: mail.Person{Name: doc.ProfileData.Name, Address: doc.ProfileData.Email},
		Language: t.Language, Subject: t.T("profile_subject"), Paragraphs: []string{t.T("profile_text")},
		Buttons: []mail.Link{{Text: t.T("profile_button"), URL: r.Config.PublicURL + "/account/telemetry#token=" + token}}})
}

// confirmTelemetry takes the token that was mailed to the profile's address. A link to an address that was replaced since is
// 410.
func confirmTelemetry(ctx context.Context, tx *db.Tx, in struct {
	Token string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
}) (mailer.Done, error) {
	_, _, err := document.Change(ctx, tx, document.Telemetry, nil, func(doc *telemetryDoc) error {
		l, err := mailer.UseLink(ctx, tx, mailer.Telemetry, in.Token)
		if err == nil && (doc.Link == nil || l.ID != *doc.Link) {
			err = fault.Expired()
		}
		doc.Confirmed, doc.Link = true, nil
		return err
	})
	if err != nil {
		return mailer.Done{}, err
	}
	return mailer.Done{OK: true}, nil
}
