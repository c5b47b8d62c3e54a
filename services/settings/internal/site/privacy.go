package site

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/audit"
	"frontdesk/services/settings/internal/document"
)

// privacyDoc is the document privacy as it is stored.
type privacyDoc struct {
	DeleteOnUninstall bool `json:"delete_on_uninstall"`
}

// retention is for how many days data is kept.
type retention struct {
	Spam            int `json:"spam" doc:"Days that spam is kept."`
	WebhookLog      int `json:"webhook_log" doc:"Days that deliveries and events are kept."`
	AuditLog        int `json:"audit_log" doc:"Days that the audit log is kept."`
	DeletedContacts int `json:"deleted_contacts" doc:"Days that a contact stays in the trash."`
}

// kept is fixed: no operation changes it.
var kept = retention{Spam: 30, WebhookLog: 30, AuditLog: audit.DaysKept, DeletedContacts: 30}

// privacy is the privacy settings.
type privacy struct {
	DeleteOnUninstall bool      `json:"delete_on_uninstall" doc:"Removing the installation deletes all data."`
	Retention         retention `json:"retention" doc:"Days."`
	document.Stamp
}

// RecordID names the document in the audit log.
func (privacy) RecordID() string { return document.Privacy }

func publishPrivacy(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc privacyDoc
	version, err := document.Read(ctx, tx, document.Privacy, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.Privacy, version, changed, privacy{doc.DeleteOnUninstall, kept, document.At(version)})
}

func getPrivacy(ctx context.Context, tx *db.Tx, _ op.None) (privacy, error) {
	var doc privacyDoc
	version, err := document.Read(ctx, tx, document.Privacy, &doc)
	return privacy{doc.DeleteOnUninstall, kept, document.At(version)}, err
}

func updatePrivacy(ctx context.Context, tx *db.Tx, in struct {
	DeleteOnUninstall opt.Value[bool] `json:"delete_on_uninstall,omitzero" doc:"Removing the installation deletes its data."`
}) (privacy, error) {
	doc, version, err := document.Change(ctx, tx, document.Privacy, publishPrivacy, func(doc *privacyDoc) error {
		in.DeleteOnUninstall.Apply(&doc.DeleteOnUninstall)
		return nil
	})
	return privacy{doc.DeleteOnUninstall, kept, document.At(version)}, err
}
