package imports

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/draft"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/tag"
)

// rowError is an error of a row with the row's cells. n counts the errors of one row.
type rowError struct {
	draft.ImportError
	n     int
	cells []string
}

// fail counts a row as failed, for the reason e.
func (j *job) fail(d draft.Draft, e draft.ImportError) {
	j.totals.Failed++
	j.errors = append(j.errors, rowError{e, 0, d.Cells})
}

// note notes the cells that a row was imported without.
func (j *job) note(d draft.Draft) {
	j.totals.Cells += len(d.Dropped)
	for n, e := range d.Dropped {
		j.errors = append(j.errors, rowError{e, n, d.Cells})
	}
}

// nameTags gives the tags of all drafts, and the one of the whole import, their names at once. It gives the import's as a
// list of one, or of none.
func nameTags(ctx context.Context, tx *db.Tx, ofImport string, drafts []draft.Draft) ([]string, error) {
	all := record.Names{ofImport: true}
	for _, d := range drafts {
		for _, t := range d.Tags {
			all[t] = true
		}
	}
	named, err := tag.ByName(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	for i := range drafts {
		drafts[i].Tags = named(drafts[i].Tags)
	}
	return named([]string{ofImport}), nil
}

// ofImport is the tag of a whole import as a list of one, or of none.
func ofImport(tag string) []string {
	if tag == "" {
		return nil
	}
	return []string{tag}
}

// decide is old after a row with its address, by the options of the import; ok is false when nothing is to be written.
// It counts the row.
func (j *job) decide(tx *db.Tx, d draft.Draft, old contact.Contact, batchTag []string) (c contact.Contact, ok bool) {
	refuse := func(code string, p fault.Problem) (contact.Contact, bool) {
		j.fail(d, draft.NewError(d.Row, "", code, p))
		return c, false
	}
	switch {
	case !contact.Sees(tx, old.OwnerUserID):
		return refuse("svc_duplicate", fault.NewProblem("somebody_else", "the address belongs to a contact of somebody else"))
	case j.options.Duplicates == duplicatesSkip:
		j.totals.Skipped++
		return c, false
	}
	if len(d.Tags) > 0 && len(record.Union(j.after(old, d).Tags, batchTag)) > field.MaxTags {
		j.reader.TooManyTags(&d)
	}
	c = j.after(old, d)
	if tags := record.Union(c.Tags, batchTag); len(tags) <= field.MaxTags {
		c.Tags = tags
	} else if len(batchTag) > 0 {
		d.Drop("", "tags", fault.TooMany(field.MaxTags))
	}
	if len(d.Fields) > 0 && field.TooMuch(c.Fields) {
		return refuse("svc_invalid_param", fault.NewProblem("too_large", "the contact would have too much text", "max", field.MaxValues))
	}
	j.note(d)
	same := len(contact.Fields.Diff(old, c)) == 0
	j.belongs(old.ID, d, same)
	if same {
		j.totals.Skipped++
		return c, false
	}
	j.totals.Updated++
	return c, true
}

// after is old with what the row brings.
func (j *job) after(old contact.Contact, d draft.Draft) contact.Contact {
	if j.options.Duplicates != contact.ModeOverwrite {
		return contact.Fields.Fill(old, d.Contact)
	}
	// An empty cell takes no value away. The address is the same, in whatever spelling.
	brought := contact.Fields.Filled(d.Contact)
	delete(brought, "email")
	return contact.Fields.Overwrite(old, d.Contact, brought)
}
