package settings

import (
	"context"

	"frontdesk/libs/db"
)

// privacyDoc is the document privacy as it is kept.
type privacyDoc struct {
	DeleteOnUninstall bool `json:"delete_on_uninstall"`
}

// Retention is for how many days things are kept.
type Retention struct {
	Spam            int `json:"spam"`
	WebhookLog      int `json:"webhook_log"`
	AuditLog        int `json:"audit_log"`
	DeletedContacts int `json:"deleted_contacts"`
}

// retention has no operation that changes it.
var retention = Retention{Spam: 30, WebhookLog: 30, AuditLog: 365, DeletedContacts: 30}

// Privacy is the privacy settings.
type Privacy struct {
	DeleteOnUninstall bool      `json:"delete_on_uninstall" doc:"Removing the installation deletes all data."`
	Retention         Retention `json:"retention" doc:"Days."`
}

func publishPrivacy(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc privacyDoc
	version, err := readDocument(ctx, tx, docPrivacy, &doc)
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docPrivacy, version, changed, Privacy{doc.DeleteOnUninstall, retention})
}

func getPrivacy(ctx context.Context, tx *db.Tx, _ struct{}) (Privacy, error) {
	var doc privacyDoc
	_, err := readDocument(ctx, tx, docPrivacy, &doc)
	return Privacy{doc.DeleteOnUninstall, retention}, err
}

func updatePrivacy(ctx context.Context, tx *db.Tx, in struct {
	DeleteOnUninstall *bool `json:"delete_on_uninstall,omitempty"`
}) (Privacy, error) {
	var doc privacyDoc
	if _, err := lockDocument(ctx, tx, docPrivacy, &doc); err != nil {
		return Privacy{}, err
	}
	if in.DeleteOnUninstall != nil && *in.DeleteOnUninstall != doc.DeleteOnUninstall {
		doc.DeleteOnUninstall = *in.DeleteOnUninstall
		if _, err := writeDocument(ctx, tx, docPrivacy, doc); err != nil {
			return Privacy{}, err
		}
		if err := publishPrivacy(ctx, tx, []string{"delete_on_uninstall"}); err != nil {
			return Privacy{}, err
		}
	}
	return Privacy{doc.DeleteOnUninstall, retention}, nil
}
