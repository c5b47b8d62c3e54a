package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestManyRecordsAreChangedByOneCallWithOneAuditEntry(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	var ids []string
	for range 3 {
		ids = append(ids, d.Admin.Post(t, "/contacts", map[string]any{"email": system.Address("many")}).Is(201).Text("id"))
	}
	keyed := d.Admin.With("Idempotency-Key", ids[0])
	body := map[string]any{"ids": ids, "add_tags": []string{"Many"}, "status": "customer"}
	done := keyed.Post(t, "/contacts/bulk", body).Is(200)
	require.Equal(t, 3.0, done.Field("changed"))
	require.Equal(t, done.Body, keyed.Post(t, "/contacts/bulk", body).Is(200).Body)
	var entry map[string]any
	system.Eventually(t, func() bool {
		for _, e := range d.Admin.Get(t, "/audit-log?action=bulk-contacts").Is(200).Items() {
			if slices.Contains(e["record_ids"].([]any), any(ids[0])) && e["record_id"] == "" {
				entry = e
				return true
			}
		}
		return false
	}, "the audit log does not have the call")
	require.ElementsMatch(t, ids, entry["record_ids"])

	note := d.Admin.Post(t, "/contacts/"+ids[0]+"/notes", map[string]any{"body": "Prefers mornings"}).Is(201).Text("id")
	d.Admin.Call(t, "PATCH", "/contacts/"+ids[0]+"/notes/"+note, map[string]any{"pinned": true}).Is(200)
	require.Equal(t, note, d.Admin.Get(t, "/contacts/"+ids[0]+"/activities").Is(200).Items()[0]["id"])
}
