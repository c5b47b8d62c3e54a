package settings

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// privacyDoc is the document privacy as it is stored.
type privacyDoc struct {
	DeleteOnUninstall bool `json:"delete_on_uninstall"`
}

// Retention is for how many days data is kept.
type Retention struct {
	Spam            int `json:"spam" doc:"Days that spam is kept."`
	WebhookLog      int `json:"webhook_log" doc:"Days that deliveries and events are kept."`
	AuditLog        int `json:"audit_log" doc:"Days that the audit log is kept."`
	DeletedContacts int `json:"deleted_contacts" doc:"Days that a contact stays in the trash."`
}

// retention is fixed: no operation changes it.
var retention = Retention{Spam: 30, WebhookLog: 30, AuditLog: entriesKept, DeletedContacts: 30}

// Privacy is the privacy settings.
type Privacy struct {
	DeleteOnUninstall bool      `json:"delete_on_uninstall" doc:"Removing the installation deletes all data."`
	Retention         Retention `json:"retention" doc:"Days."`
	stamp
}

// RecordID names the document in the audit log.
func (Privacy) RecordID() string { return docPrivacy }

func publishPrivacy(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc privacyDoc
	version, err := readDocument(ctx, tx, docPrivacy, &doc)
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docPrivacy, version, changed, Privacy{doc.DeleteOnUninstall, retention, stampOf(version)})
}

func getPrivacy(ctx context.Context, tx *db.Tx, _ op.None) (Privacy, error) {
	var doc privacyDoc
	version, err := readDocument(ctx, tx, docPrivacy, &doc)
	return Privacy{doc.DeleteOnUninstall, retention, stampOf(version)}, err
}

func updatePrivacy(ctx context.Context, tx *db.Tx, in struct {
	DeleteOnUninstall opt.Value[bool] `json:"delete_on_uninstall,omitzero" doc:"Removing the installation deletes its data."`
}) (Privacy, error) {
	var doc privacyDoc
	version, err := lockDocument(ctx, tx, docPrivacy, &doc)
	if err != nil {
		return Privacy{}, err
	}
	if err := tx.Match(version); err != nil {
		return Privacy{}, err
	}
	if in.DeleteOnUninstall.Set && in.DeleteOnUninstall.V != doc.DeleteOnUninstall {
		doc.DeleteOnUninstall = in.DeleteOnUninstall.V
		if version, err = writeDocument(ctx, tx, docPrivacy, doc); err != nil {
			return Privacy{}, err
		}
		if err := publishPrivacy(ctx, tx, []string{"delete_on_uninstall"}); err != nil {
			return Privacy{}, err
		}
	}
	return Privacy{doc.DeleteOnUninstall, retention, stampOf(version)}, nil
}
