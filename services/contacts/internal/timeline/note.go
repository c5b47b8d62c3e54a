package timeline

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
)

// NewNote is a note for the timeline of a contact or an organization.
type NewNote struct {
	ID   uuid.UUID `json:"id"`
	Body string    `json:"body" required:"true" maxLength:"65535" doc:"Plain text."`
}

// NoteID names a note in the path.
type NoteID struct {
	ID   uuid.UUID `json:"id"`
	Note uuid.UUID `json:"note" doc:"The id of the note's entry in the timeline."`
}

// NoteChange is what PATCH may change of a note.
type NoteChange struct {
	NoteID
	Body   opt.Value[string] `json:"body,omitzero" maxLength:"65535" doc:"Plain text."`
	Pinned opt.Value[bool]   `json:"pinned,omitzero" doc:"true has the note stand before all other entries."`
}

// FailAuthor says in descriptions when a note is refused to who did not write it, see op.Fails.
const FailAuthor = "Somebody else wrote the note, and you may not manage the CRM."

// Write writes a note about a locked contact or organization, and gives its entry.
func (n NewNote) Write(ctx context.Context, tx *db.Tx, e NewEntry) (Entry, error) {
	if strings.TrimSpace(n.Body) == "" {
		return Entry{}, fault.Invalid("body", fault.Empty())
	}
	e.Kind, e.Body = note, n.Body
	id, err := Log(ctx, tx, e)
	if err != nil {
		return Entry{}, err
	}
	return readNote(ctx, tx, id)
}

// readNote reads a note.
func readNote(ctx context.Context, tx *db.Tx, id uuid.UUID) (Entry, error) {
	rows, err := tx.Query(ctx, `select `+Columns+Pinned+` from activity a left join contact c on c.id = a.contact_id where a.id = $1`, id)
	if err != nil {
		return Entry{}, err
	}
	return pgx.CollectExactlyOneRow(rows, Scan)
}

// lock locks the note of a record, which stands in one of its columns, for who wrote it or manages the CRM.
func (n NoteID) lock(ctx context.Context, tx *db.Tx, column string) error {
	var author *int64
	var version int64
	err := tx.QueryRow(ctx, `select user_id, version from activity where id = $1 and `+column+` = $2 and type = 'note' for update`, n.Note, n.ID).Scan(&author, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.NotFound("note")
	}
	if err != nil {
		return err
	}
	if (author == nil || *author != tx.Who.UserID) && !tx.Who.Can(auth.ManageCRM) {
		return fault.Refused("author", "Only who wrote a note may change it, and who manages the CRM.")
	}
	return tx.Match(version)
}

// The columns that say whose note it is.
const (
	OfContact      = "contact_id"
	OfOrganization = "organization_id"
)

// Save changes the note of a locked record. Its texts are in no event and in no audit entry.
func (n NoteChange) Save(ctx context.Context, tx *db.Tx, column string) (Entry, error) {
	if err := n.lock(ctx, tx, column); err != nil {
		return Entry{}, err
	}
	if n.Body.Set && strings.TrimSpace(n.Body.V) == "" {
		return Entry{}, fault.Invalid("body", fault.Empty())
	}
	old, err := readNote(ctx, tx, n.Note)
	if err != nil {
		return old, err
	}
	e := old
	n.Body.Apply(&e.Body)
	n.Pinned.Apply(&e.Pinned)
	if e.Body == old.Body && e.Pinned == old.Pinned {
		return old, nil
	}
	diff := change.Set{}
	diff.Note("pinned", old.Pinned, e.Pinned)
	tx.Changed(diff)
	if e.Body != old.Body {
		tx.Was(change.Set{"body": {Old: old.Body}})
	}
	if _, err := tx.Exec(ctx, `update activity set version = version + 1, edited_at = case when body = $2 then edited_at else $4::timestamptz end, body = $2, pinned = $3 where id = $1`,
		n.Note, e.Body, e.Pinned, tx.Now); err != nil {
		return old, err
	}
	return readNote(ctx, tx, n.Note)
}

// Delete deletes the note of a locked record.
func (n NoteID) Delete(ctx context.Context, tx *db.Tx, column string) error {
	if err := n.lock(ctx, tx, column); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from activity where id = $1`, n.Note)
	return err
}
