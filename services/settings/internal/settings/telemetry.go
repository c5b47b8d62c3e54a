package settings

import (
	"context"
	"time"

	"frontdesk/libs/db"
)

// telemetryDoc is the document telemetry as it is kept.
type telemetryDoc struct {
	Stats       bool        `json:"stats"`
	Profile     bool        `json:"profile"`
	ProfileData ProfileData `json:"profile_data"`
	// Confirmed tells that the person behind the profile's address agreed by mail.
	Confirmed bool       `json:"confirmed"`
	LastSent  *time.Time `json:"last_sent"`
}

// ProfileData is the company profile for news about the product.
type ProfileData struct {
	Company  string `json:"company"`
	Website  string `json:"website"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Sector   string `json:"sector"`
	TeamSize string `json:"team_size"`
}

// publishTelemetry tells what was agreed to, without the profile.
func publishTelemetry(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc telemetryDoc
	version, err := readDocument(ctx, tx, docTelemetry, &doc)
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docTelemetry, version, changed, map[string]bool{"stats": doc.Stats, "profile": doc.Profile})
}
