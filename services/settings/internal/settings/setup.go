package settings

import (
	"context"

	"frontdesk/libs/db"
)

// Setup is how far the guide for a new site has come.
type Setup struct {
	Done      bool `json:"done"`
	Dismissed bool `json:"dismissed"`
}

func getSetup(ctx context.Context, tx *db.Tx, _ struct{}) (doc Setup, err error) {
	_, err = readDocument(ctx, tx, docSetup, &doc)
	return doc, err
}

func updateSetup(ctx context.Context, tx *db.Tx, in struct {
	Done      *bool `json:"done,omitempty"`
	Dismissed *bool `json:"dismissed,omitempty"`
}) (Setup, error) {
	var doc Setup
	if _, err := lockDocument(ctx, tx, docSetup, &doc); err != nil {
		return doc, err
	}
	if in.Done != nil {
		doc.Done = *in.Done
	}
	if in.Dismissed != nil {
		doc.Dismissed = *in.Dismissed
	}
	_, err := writeDocument(ctx, tx, docSetup, doc)
	return doc, err
}
