package support

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
)

// Setup is how far the guide for a new site has come.
type Setup struct {
	Done      bool `json:"done" doc:"All steps are finished."`
	Dismissed bool `json:"dismissed" doc:"Somebody has put the guide away."`
}

// RecordID names the document in the audit log.
func (Setup) RecordID() string { return document.Setup }

func getSetup(ctx context.Context, tx *db.Tx, _ op.None) (doc Setup, err error) {
	_, err = document.Read(ctx, tx, document.Setup, &doc)
	return doc, err
}

func updateSetup(ctx context.Context, tx *db.Tx, in struct {
	Done      opt.Value[bool] `json:"done,omitzero" doc:"All steps are finished."`
	Dismissed opt.Value[bool] `json:"dismissed,omitzero" doc:"The guide is put away."`
}) (Setup, error) {
	var doc Setup
	if _, err := document.Lock(ctx, tx, document.Setup, &doc); err != nil {
		return doc, err
	}
	in.Done.Apply(&doc.Done)
	in.Dismissed.Apply(&doc.Dismissed)
	_, err := document.Write(ctx, tx, document.Setup, doc)
	return doc, err
}
