// Package draft says what a row of an uploaded file brings: a contact in its stored form, and what could not be read. It keeps no state and knows no
// database.
package draft

import (
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// Draft is a row on its way to become a contact.
type Draft struct {
	contact.Contact        // in stored form, without the tag of the whole import
	Key             string // of the address
	Company         string // the name of the organization that it belongs to
	Cells           []string
	Row             int
	Dropped         []ImportError // its cells that could not be read
}

// Reader reads the rows of a file.
type Reader struct {
	Headers []string
	Mapping []string // the target of each column
	Clean   *field.Cleaner
	Team    []*proto.User
}

// Drop leaves the cell of a column out of the draft.
func (d *Draft) Drop(column, target string, p fault.Problem) {
	p.Text = target + " " + p.Text
	e := NewError(d.Row, column, "svc_invalid_param", p)
	e.Dropped = DroppedCell
	d.Dropped = append(d.Dropped, e)
}

// Cells are a row's cells, one for each header.
func (r *Reader) Cells(row csvfile.Row) []string {
	cells := make([]string, len(r.Headers))
	for i := range cells {
		cells[i] = row.Cell(i)
	}
	return cells
}

// Read turns a row into a draft. A cell that cannot be read is left out; without a readable address where one is given, or without a
// name, an address and a number the row has failed.
func (r *Reader) Read(row csvfile.Row) (d Draft, failed *ImportError) {
	return r.read(row, func(int, *ImportError) {})
}

// read is Read that calls took for each column whose cell it stores, or drops for a reason.
func (r *Reader) read(row csvfile.Row, took func(column int, dropped *ImportError)) (d Draft, failed *ImportError) {
	d = Draft{Row: row.Number, Cells: r.Cells(row), Contact: contact.Contact{Fields: map[string]any{}}}
	refused := func(p fault.Problem) (Draft, *ImportError) {
		e := NewError(d.Row, "", "svc_invalid_param", p)
		return d, &e
	}
	if row.Broken {
		return refused(fault.NewProblem("quotes", "the row has a quotation mark that is not closed, or that stands in the middle of a cell"))
	}
	filled := map[string]bool{}
	var unread *ImportError
	for i, target := range r.Mapping {
		if target == "" || i >= len(d.Cells) || d.Cells[i] == "" || filled[target] && target != "tags" {
			continue
		}
		problem := r.put(&d, target, d.Cells[i])
		if filled[target] = problem.IsZero(); filled[target] {
			took(i, nil)
			continue
		}
		d.Drop(r.Headers[i], target, problem)
		e := d.Dropped[len(d.Dropped)-1]
		took(i, &e)
		if target == "email" {
			unread = &e
		}
	}
	d.Key = address.Key(d.Email)
	switch {
	case unread != nil && d.Email == "":
		unread.Dropped = droppedRow
		return d, unread
	case contact.Nameless(d.Contact) != nil && len(d.Dropped) > 0:
		// What would have made it a person could not be read.
		e := d.Dropped[0]
		e.Dropped = droppedRow
		return d, &e
	case contact.Nameless(d.Contact) != nil:
		return refused(fault.NewProblem("nameless", "the row has no name, email address or phone number"))
	case len(d.Fields) > 0 && field.TooMuch(d.Fields):
		return refused(fault.NewProblem("too_large", "the row has too much text for one contact", "max", field.MaxValues))
	}
	return d, nil
}

var importLengths = map[string]int{"first_name": 100, "last_name": 100, "organization": 190, "source": 50}

// put stores a cell in the field that its column goes to, or says what is wrong with it.
func (r *Reader) put(c *Draft, target, cell string) (problem fault.Problem) {
	if most, ok := importLengths[target]; ok && utf8.RuneCountInString(cell) > most {
		return fault.TooLong(most)
	}
	switch target {
	case "first_name":
		c.FirstName = person.Name(cell)
	case "last_name":
		c.LastName = person.Name(cell)
	case "email":
		c.Email, problem = field.EmailValue(csvfile.Address(cell))
	case "phone":
		number, ok := csvfile.PhoneNumber(cell)
		if !ok {
			return field.NumberLost()
		}
		if c.Phone = r.Clean.Phone(number); utf8.RuneCountInString(c.Phone) > 50 {
			c.Phone, problem = "", fault.TooLong(50)
		}
	case "organization":
		c.Company = person.Name(cell)
	case "owner":
		c.OwnerUserID, problem = r.owner(cell)
	case "source":
		c.Source = person.Name(cell)
	case "status":
		var ok bool
		if c.Status, ok = csvfile.Status(cell); !ok {
			problem = fault.NewProblem("not_one_of", "must be lead, customer or inactive", "allowed", contact.Statuses)
		}
	case "tags":
		tags := record.Union(c.Tags, csvfile.Tags(cell))
		switch {
		case slices.ContainsFunc(tags, func(t string) bool { return utf8.RuneCountInString(t) > field.MaxTag }):
			return field.TagTooLong()
		case len(tags) > field.MaxTags:
			return fault.TooMany(field.MaxTags)
		}
		c.Tags = tags
	default:
		// The field may be archived since the import was started.
		key := strings.TrimPrefix(target, "fields.")
		var v any
		if v, problem = r.Clean.Cell(key, cell); v != nil {
			c.Fields[key] = v
		}
	}
	return problem
}

// owner is the member of the team with an address, or with a name that only one has: exports write names.
func (r *Reader) owner(cell string) (*int64, fault.Problem) {
	key := address.Key(csvfile.Address(cell))
	var found []int64
	for _, u := range r.Team {
		if key == address.Key(u.GetEmail()) {
			found = []int64{u.GetId()}
			break
		}
		if strings.EqualFold(person.Name(cell), u.GetName()) {
			found = append(found, u.GetId())
		}
	}
	if len(found) != 1 {
		return nil, fault.NewProblem("not_on_team", "must be the address of a member of the team")
	}
	return &found[0], fault.Problem{}
}

// TooManyTags leaves the tags out of a row that would give its contact more than a contact may have, the import's included.
func (r *Reader) TooManyTags(d *Draft) {
	column := ""
	if i := slices.Index(r.Mapping, "tags"); i >= 0 {
		column = r.Headers[i]
	}
	d.Tags = nil
	d.Drop(column, "tags", fault.TooMany(field.MaxTags))
}

// Key is the key of the address that a row would give its contact; empty for none.
func (r *Reader) Key(row csvfile.Row) string {
	if row.Broken {
		return ""
	}
	for i, target := range r.Mapping {
		if target == "email" && i < len(r.Headers) {
			if email, problem := field.EmailValue(csvfile.Address(row.Cell(i))); problem.IsZero() && email != "" {
				return address.Key(email)
			}
		}
	}
	return ""
}

// FirstOfEachAddress parts drafts into those that can be done at once and those whose address stands before them.
func FirstOfEachAddress(drafts []Draft) (first, later []Draft) {
	seen := map[string]bool{}
	for _, d := range drafts {
		if d.Key != "" && seen[d.Key] {
			later = append(later, d)
			continue
		}
		seen[d.Key] = true
		first = append(first, d)
	}
	return first, later
}

// Keys are the addresses of drafts, by their keys.
func Keys(drafts []Draft) []string {
	var keys []string
	for _, d := range drafts {
		if d.Key != "" {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// About reports whether a row of a file is about one of the people: a cell holds an address of theirs, delimited, or no cell
// holds any and both first and last name stand there, each as a whole cell or together in one. Beside an address of somebody
// else it is a namesake's name.
func About(cells []string, l *contact.Leavers) bool {
	if slices.ContainsFunc(cells, l.AddressIn) {
		return true
	}
	whole := func(name string) bool {
		return slices.ContainsFunc(cells, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
	}
	return slices.ContainsFunc(l.Names, func(n contact.FullName) bool {
		return whole(n.First) && whole(n.Last) || whole(n.First+" "+n.Last) || whole(n.Last+" "+n.First)
	}) && !slices.ContainsFunc(cells, func(c string) bool { return len(address.Find(c)) > 0 })
}
