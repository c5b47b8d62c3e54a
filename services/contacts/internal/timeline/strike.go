package timeline

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// Strike takes the addresses out of the timelines of contacts that had one of them before, and the names of
// visitors out of what they did to organizations.
func Strike(ctx context.Context, tx *db.Tx, p *erasure.Person, addresses, visitors []string) error {
	rows, err := tx.Query(ctx, `select id, subject, body, actor_label, data from activity
		where contact_id in (select contact_id from former_address where email_key = any($1)) order by id for update`, addresses)
	if err != nil {
		return err
	}
	update := &pgx.Batch{}
	var id uuid.UUID
	var subject, body, label string
	var data []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &subject, &body, &label, &data}, func() error {
		subject, inSubject := p.StrikeFrom(subject)
		body, inBody := p.StrikeFrom(body)
		label, inLabel := p.StrikeFrom(label)
		left, inData := p.StrikeFromJSON(data)
		if inSubject || inBody || inLabel || inData {
			update.Queue(`update activity set subject = $2, body = $3, actor_label = $4, data = $5::jsonb where id = $1`, id, subject, body, label, string(left))
		}
		return nil
	}); err != nil {
		return err
	}
	labels := make([]string, len(visitors))
	for i, label := range visitors {
		labels[i] = strings.ToLower(label)
	}
	update.Queue(`update activity set actor_label = '' where organization_id is not null and user_id is null and actor_label <> '' and lower(actor_label) = any($1)`, labels)
	return tx.SendBatch(ctx, update).Close()
}
