package templates

import (
	"context"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/lang"
	"frontdesk/libs/letter"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/typed"
)

// which names a template in the path.
type which struct {
	Kind     string `json:"kind" maxLength:"60" doc:"The kind of mail, such as appointment.booked; appointment.booked_request is the mail about a request."`
	Language string `json:"language" enum:"en,nl,fr,de" doc:"The language of the mail."`
}

// mailTemplate is a template as the team sees it. Its version is that of the kind, in all languages.
type mailTemplate struct {
	Kind         string               `json:"kind" doc:"The kind of mail."`
	Language     string               `json:"language" enum:"en,nl,fr,de" doc:"The language of the mail."`
	Subject      string               `json:"subject" doc:"The line over it."`
	Body         string               `json:"body" doc:"Plain text. An empty line begins a paragraph; a name in braces is a placeholder."`
	Standard     bool                 `json:"standard" doc:"It is what comes with the program."`
	Placeholders []letter.Placeholder `json:"placeholders" doc:"What may stand in it in braces."`
	document.Stamp
}

// RecordID names the template in the audit log.
func (t mailTemplate) RecordID() string { return t.Kind + "/" + t.Language }

// reader gives the standard words in a language, as the country of the business has them.
func (r *Room) reader(ctx context.Context, tx *db.Tx, language string) (*web.Reader, error) {
	var general struct {
		Country string `json:"country"`
	}
	_, err := document.Read(ctx, tx, document.General, &general)
	return letter.Reader(language, general.Country, r.Config.Zone), err
}

// find is the kind of a name; 404 svc_not_found otherwise.
func find(kind string) (letter.Kind, error) {
	k, ok := letter.Find(kind)
	if !ok {
		return k, fault.NotFound("mail template")
	}
	return k, nil
}

func show(t *web.Reader, k letter.Kind, doc written, version int64) mailTemplate {
	out := mailTemplate{Kind: k.Name, Language: t.Language, Placeholders: k.Placeholders, Stamp: document.At(version)}
	own, ok := doc[t.Language]
	if !ok {
		own, out.Standard = letter.Standard(t, k.Name), true
	}
	out.Subject, out.Body = own.Subject, own.Body
	return out
}

func (r *Room) list(ctx context.Context, tx *db.Tx, _ op.None) (out struct {
	Items []mailTemplate `json:"items" doc:"All of them, kind by kind."`
}, err error) {
	out.Items = []mailTemplate{}
	readers := map[string]*web.Reader{}
	for _, language := range lang.Languages {
		if readers[language], err = r.reader(ctx, tx, language); err != nil {
			return out, err
		}
	}
	for _, k := range letter.Kinds {
		var doc written
		version, err := document.Read(ctx, tx, letter.Key(k.Name), &doc)
		if err != nil {
			return out, err
		}
		for _, language := range lang.Languages {
			out.Items = append(out.Items, show(readers[language], k, doc, version))
		}
	}
	return out, nil
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in which) (mailTemplate, error) {
	k, err := find(in.Kind)
	if err != nil {
		return mailTemplate{}, err
	}
	var doc written
	version, err := document.Read(ctx, tx, letter.Key(k.Name), &doc)
	if err != nil {
		return mailTemplate{}, err
	}
	t, err := r.reader(ctx, tx, in.Language)
	return show(t, k, doc, version), err
}

// update stores the words of a kind in a language, without blanks around them. The standard words, saved, are no words of the business's own.
func (r *Room) update(ctx context.Context, tx *db.Tx, in struct {
	Kind     string `json:"kind" maxLength:"60" doc:"The kind of mail, such as appointment.booked; appointment.booked_request is the mail about a request."`
	Language string `json:"language" enum:"en,nl,fr,de" doc:"The language of the mail."`
	Subject  string `json:"subject" required:"true" maxLength:"190" doc:"The line over it; placeholders may stand in it."`
	Body     string `json:"body" required:"true" maxLength:"5000" doc:"Plain text. An empty line begins a paragraph; a name in braces is a placeholder."`
}) (mailTemplate, error) {
	k, err := find(in.Kind)
	if err != nil {
		return mailTemplate{}, err
	}
	own, err := checked(k, letter.Template{Subject: in.Subject, Body: in.Body})
	if err != nil {
		return mailTemplate{}, err
	}
	return r.change(ctx, tx, k, in.Language, &own)
}

// checked is a template as it is stored; 400 svc_invalid_param with what is wrong with it.
func checked(k letter.Kind, t letter.Template) (letter.Template, error) {
	t = letter.Template{Subject: strings.TrimSpace(t.Subject), Body: strings.TrimSpace(strings.ReplaceAll(t.Body, "\r\n", "\n"))}
	wrong := fault.Problems{}
	wrong.Add("subject", typed.Line(t.Subject))
	for name, problem := range k.Check(t) {
		wrong.Add(name, problem)
	}
	return t, wrong.Err()
}

func (r *Room) reset(ctx context.Context, tx *db.Tx, in which) (op.None, error) {
	k, err := find(in.Kind)
	if err != nil {
		return op.None{}, err
	}
	_, err = r.change(ctx, tx, k, in.Language, nil)
	return op.None{}, err
}

// change gives a kind other words in a language, nil for the standard ones.
func (r *Room) change(ctx context.Context, tx *db.Tx, k letter.Kind, language string, own *letter.Template) (mailTemplate, error) {
	t, err := r.reader(ctx, tx, language)
	if err != nil {
		return mailTemplate{}, err
	}
	doc, version, err := document.Change(ctx, tx, letter.Key(k.Name), publisher(k.Name), func(doc *written) error {
		was, had := (*doc)[language]
		if delete(*doc, language); own != nil && *own != letter.Standard(t, k.Name) {
			(*doc)[language] = *own
		}
		switch now, ok := (*doc)[language]; {
		case had && was != now:
			tx.TakeBack("update-mail-template", map[string]any{"kind": k.Name, "language": language, "subject": was.Subject, "body": was.Body})
		case !had && ok:
			tx.TakeBack("reset-mail-template", map[string]any{"kind": k.Name, "language": language})
		}
		return nil
	})
	return show(t, k, doc, version), err
}
