package imports

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/tag"
)

// draft is a row on its way to become a contact.
type draft struct {
	contact.Contact // in stored form, without the tag of the whole import
	key             string
	cells           []string
	row             int
}

func (j *job) fail(row int, cells []string, column, code string, p fault.Problem) {
	j.failed = append(j.failed, failedRow{newError(row, column, code, p), cells})
}

// cells are a row's cells, one for each header.
func (j *job) cells(row csvfile.Row) []string {
	cells := make([]string, len(j.headers))
	for i := range cells {
		cells[i] = row.Cell(i)
	}
	return cells
}

// read turns a row into a draft; one that breaks a rule is noted as failed.
func (j *job) read(row csvfile.Row) (draft, bool) {
	cells := j.cells(row)
	d := draft{row: row.Number, cells: cells, Contact: contact.Contact{Fields: map[string]any{}}}
	for i, target := range j.mapping {
		if target == "" || i >= len(cells) || cells[i] == "" {
			continue
		}
		if problem := j.put(&d.Contact, target, cells[i]); !problem.IsZero() {
			problem.Text = target + " " + problem.Text
			j.fail(row.Number, cells, j.headers[i], "svc_invalid_param", problem)
			return d, false
		}
	}
	d.key = address.Key(d.Email)
	if contact.Nameless(d.Contact) != nil {
		j.fail(row.Number, cells, "", "svc_invalid_param", fault.NewProblem("nameless", "the row has no name, email address or phone number"))
		return d, false
	}
	if len(d.Fields) > 0 && field.TooMuch(d.Fields) {
		j.fail(row.Number, cells, "", "svc_invalid_param", fault.NewProblem("too_large", "the row has too much text for one contact", "max", field.MaxValues))
		return d, false
	}
	return d, true
}

var importLengths = map[string]int{"first_name": 100, "last_name": 100, "email": address.Max, "phone": 50, "source": 50}

// put stores a cell in the field that its column goes to, or says what is wrong with it.
func (j *job) put(c *contact.Contact, target, cell string) (problem fault.Problem) {
	if most, ok := importLengths[target]; ok && utf8.RuneCountInString(cell) > most {
		return fault.TooLong(most)
	}
	switch target {
	case "first_name":
		c.FirstName = person.Name(cell)
	case "last_name":
		c.LastName = person.Name(cell)
	case "email":
		c.Email, problem = field.EmailValue(cell)
	case "phone":
		c.Phone = j.clean.Phone(cell)
	case "source":
		c.Source = person.Name(cell)
	case "status":
		var ok bool
		if c.Status, ok = csvfile.Status(cell); !ok {
			problem = fault.NewProblem("not_one_of", "must be lead, customer or inactive", "allowed", contact.Statuses)
		}
	case "tags":
		c.Tags = csvfile.Tags(cell)
		if slices.ContainsFunc(c.Tags, func(t string) bool { return utf8.RuneCountInString(t) > field.MaxTag }) {
			problem = field.TagTooLong()
		}
		if len(c.Tags) > field.MaxTags {
			problem = fault.TooMany(field.MaxTags)
		}
	default:
		// The field may be archived since the import was started.
		key := strings.TrimPrefix(target, "fields.")
		var v any
		if v, problem = j.clean.Value(key, cell); v != nil {
			c.Fields[key] = v
		}
	}
	return problem
}

// nameTags gives the tags of all drafts, and the one of the whole import, their names at once. It gives the import's as a
// list of one, or of none.
func nameTags(ctx context.Context, tx *db.Tx, ofImport string, drafts []draft) ([]string, error) {
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

// tooManyTags notes that a contact would have more tags than a contact may have, the import's included.
func (j *job) tooManyTags(d draft) {
	column := ""
	if i := slices.Index(j.mapping, "tags"); i >= 0 {
		column = j.headers[i]
	}
	problem := fault.TooMany(field.MaxTags)
	problem.Text = "tags " + problem.Text
	j.fail(d.row, d.cells, column, "svc_invalid_param", problem)
}

// firstOfEachAddress parts drafts into those that can be done at once and those whose address stands before them.
func firstOfEachAddress(drafts []draft) (first, later []draft) {
	seen := map[string]bool{}
	for _, d := range drafts {
		if d.key != "" && seen[d.key] {
			later = append(later, d)
			continue
		}
		seen[d.key] = true
		first = append(first, d)
	}
	return first, later
}

// decide is old after a row with its address, by the options of the import; ok is false when nothing is to be written.
// It counts the row.
func (j *job) decide(tx *db.Tx, d draft, old contact.Contact, batchTag []string) (c contact.Contact, ok bool) {
	switch {
	case !contact.Sees(tx, old.OwnerUserID):
		j.fail(d.row, d.cells, "", "svc_duplicate", fault.NewProblem("somebody_else", "the address belongs to a contact of somebody else"))
		return c, false
	case j.options.Duplicates == duplicatesSkip:
		j.totals.Skipped++
		return c, false
	case j.options.Duplicates == contact.ModeOverwrite:
		// An empty cell takes no value away. The address is the same, in whatever spelling.
		brought := contact.Fields.Filled(d.Contact)
		delete(brought, "email")
		c = contact.Fields.Overwrite(old, d.Contact, brought)
	default:
		c = contact.Fields.Fill(old, d.Contact)
	}
	if c.Tags = record.Union(c.Tags, batchTag); len(c.Tags) > field.MaxTags && len(c.Tags) > len(old.Tags) {
		j.tooManyTags(d)
		return c, false
	}
	if len(d.Fields) > 0 && field.TooMuch(c.Fields) {
		j.fail(d.row, d.cells, "", "svc_invalid_param", fault.NewProblem("too_large", "the contact would have too much text", "max", field.MaxValues))
		return c, false
	}
	if len(contact.Fields.Diff(old, c)) == 0 {
		j.totals.Skipped++
		return c, false
	}
	j.totals.Updated++
	return c, true
}

type failedRow struct {
	importError
	cells []string
}

// keysOf are the addresses of drafts, by their keys.
func keysOf(drafts []draft) []string {
	var keys []string
	for _, d := range drafts {
		if d.key != "" {
			keys = append(keys, d.key)
		}
	}
	return keys
}
