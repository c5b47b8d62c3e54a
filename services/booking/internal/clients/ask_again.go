package clients

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

const (
	// askAfter is how long a client whom contacts does not have waits for the answer of contacts before contacts is asked again.
	// The answer is an event of the contact that the client turned out to be, so a later event replaces it in Kafka while this
	// service is away for more than a week.
	askAfter = 24 * time.Hour
	askSlice = 100
)

// askAgain repeats the commands for clients whom contacts has not answered about for a day. contacts answers a repeated
// command as it did the first time.
func (r *Room) askAgain(ctx context.Context) error {
	return r.DB.Slices(ctx, askSlice, func(tx *db.Tx) (int, error) { return askSome(ctx, tx) })
}

// askSome asks for one slice of clients, each by the appointment that the client was made for, and returns their number.
func askSome(ctx context.Context, tx *db.Tx) (n int, err error) {
	rows, err := tx.Query(ctx, `with due as (select c.id, a.id as appointment_id from contact c
			join lateral (select id, created_at from appointment where contact_id = c.id order by created_at, id limit 1) a on true
			where c.version = 0 and coalesce(c.asked_at, a.created_at) < $2 order by c.id limit $3 for update of c skip locked)
		update contact c set asked_at = $1 from due where c.id = due.id
		returning c.id, due.appointment_id, c.first_name, c.last_name, c.email, c.phone`, tx.Now, tx.Now.Add(-askAfter), askSlice)
	if err != nil {
		return 0, fmt.Errorf("find unanswered clients: %w", err)
	}
	var commands []db.Event
	var asked []Client
	var id, appointment uuid.UUID
	var c Client
	if _, err := pgx.ForEachRow(rows, []any{&id, &appointment, &c.FirstName, &c.LastName, &c.Email, &c.Phone}, func() error {
		commands = append(commands, Ensure(Command(c, "", id, appointment)))
		asked = append(asked, c)
		return nil
	}); err != nil {
		return 0, fmt.Errorf("read unanswered clients: %w", err)
	}
	for i, command := range commands {
		tx.Who = db.Actor{Channel: db.ChannelBooking, Label: asked[i].Label()}
		if err := tx.Emit(ctx, command); err != nil {
			return 0, err
		}
	}
	return len(commands), nil
}
