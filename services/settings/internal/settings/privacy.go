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
	Spam            int `json:"spam"`
	WebhookLog      int `json:"webhook_log"`
	AuditLog        int `json:"audit_log"`
	DeletedContacts int `json:"deleted_contacts"`
}

// retention is fixed: no operation changes it.
var retention = Retention{Spam: 30, WebhookLog: 30, AuditLog: 365, DeletedContacts: 30}

// Privacy is the privacy settings.
type Privacy struct {
	DeleteOnUninstall bool      `json:"delete_on_uninstall" doc:"Removing the installation deletes all data."`
	Retention         Retention `json:"retention" doc:"Days."`
}

// RecordID names the document in the audit log.
func (Privacy) RecordID() string { return docPrivacy }

func publishPrivacy(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc privacyDoc
	version, err := readDocument(ctx, tx, docPrivacy, &doc)
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docPrivacy, version, changed, Privacy{doc.DeleteOnUninstall, retention})
}

func getPrivacy(ctx context.Context, tx *db.Tx, _ op.None) (Privacy, error) {
	var doc privacyDoc
	_, err := readDocument(ctx, tx, docPrivacy, &doc)
	return Privacy{doc.DeleteOnUninstall, retention}, err
}

func updatePrivacy(ctx context.Context, tx *db.Tx, in struct {
	DeleteOnUninstall opt.Value[bool] `json:"delete_on_uninstall,omitzero"`
}) (Privacy, error) {
	var doc privacyDoc
	if _, err := lockDocument(ctx, tx, docPrivacy, &doc); err != nil {
		return Privacy{}, err
	}
	if in.DeleteOnUninstall.Set && in.DeleteOnUninstall.V != doc.DeleteOnUninstall {
		doc.DeleteOnUninstall = in.DeleteOnUninstall.V
		if _, err := writeDocument(ctx, tx, docPrivacy, doc); err != nil {
			return Privacy{}, err
		}
		if err := publishPrivacy(ctx, tx, []string{"delete_on_uninstall"}); err != nil {
			return Privacy{}, err
		}
	}
	return Privacy{doc.DeleteOnUninstall, retention}, nil
}
