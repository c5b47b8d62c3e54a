package templates

import (
	"context"
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/letter"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/site"
)

// Room keeps the templates of mails.
type Room struct {
	*app.Kit
	site *site.Room
}

func New(k *app.Kit, s *site.Room) *Room { return &Room{k, s} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	var all []app.Published
	for _, k := range letter.Kinds {
		all = append(all, document.Record(proto.SiteTopic, letter.Key(k.Name), letter.Key(k.Name), publisher(k.Name)))
	}
	return app.Parts{Published: all}
}

// First are the documents of a new site: every mail has the standard words.
func First() map[string]any {
	first := map[string]any{}
	for _, k := range letter.Kinds {
		first[letter.Key(k.Name)] = written{}
	}
	return first
}

// written are the templates of a kind that are not the standard ones, by language.
type written map[string]letter.Template

// publisher publishes the templates of a kind. A record is bounded by four languages of what update takes.
func publisher(kind string) document.Publisher {
	return func(ctx context.Context, tx *db.Tx, changed []string) error {
		var doc written
		version, err := document.Read(ctx, tx, letter.Key(kind), &doc)
		if err != nil {
			return err
		}
		return document.Publish(ctx, tx, letter.Key(kind), version, changed, doc)
	}
}

//go:embed examples.json
var examples []byte

// Operations declares the operations on templates.
func (r *Room) Operations(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-mail-templates", Route: "GET /mail-templates", Perm: auth.ManageCRM,
		Doc: "List the words of the mails to clients and visitors: a template for each kind and language.",
		Use: "Use it to see what clients are written, and which placeholders a mail has."}, r.list)
	op.Add(set, op.Op{ID: "get-mail-template", Route: "GET /mail-templates/{kind}/{language}", Perm: auth.ManageCRM,
		Doc: "Get the words of one kind of mail in one language.",
		Use: "Use it before update-mail-template. Answers with subject, body and placeholders."}, r.get)
	op.Add(set, op.Op{ID: "update-mail-template", Undo: op.Undo{Steps: true}, Versioned: true, Route: "PUT /mail-templates/{kind}/{language}", Perm: auth.ManageCRM, Hidden: true, Record: "mail_template",
		Doc: "Write the words of one kind of mail in one language.",
		Use: "Every client gets them from now on. preview-mail-template shows first how they look. Answers with the template."}, r.update)
	op.Add(set, op.Op{ID: "reset-mail-template", Undo: op.Undo{Steps: true}, Versioned: true, Route: "DELETE /mail-templates/{kind}/{language}", Perm: auth.ManageCRM, Hidden: true, Record: "mail_template",
		Doc: "Give a kind of mail its standard words again in one language.",
		Use: "The words that the business wrote are gone then."}, r.reset)
	op.Add(set, op.Op{ID: "preview-mail-template", Route: "POST /mail-templates/{kind}/{language}/preview", Perm: auth.ManageCRM, Reads: true,
		Doc: "Show a mail with data of nobody: by the template as it is, or by words that are not saved.",
		Use: "Answers with subject, text and html. Nothing is sent."}, r.preview)
}
