package forms

import (
	"context"
	"embed"

	"frontdesk/libs/app"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/digest"
	"frontdesk/services/forms/internal/form"
	"frontdesk/services/forms/internal/submission"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the forms service.
var Service = app.Service{Name: "forms", Port: 8094, Migrations: migrations, Build: build}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	forms := form.New(k, submission.Count)
	submissions := submission.New(k, forms)
	set := operations(k, forms, submissions)
	return app.Join(
		app.Room{Name: "forms", Parts: app.Parts{Ops: set, App: &proto.App{Id: form.AppID, Name: "Forms"}}},
		app.Room{Name: "form", Parts: forms.Parts(set.Handler())},
		app.Room{Name: "submission", Parts: submissions.Parts()},
		app.Room{Name: "digest", Parts: digest.New(k, forms).Parts()},
	)
}
