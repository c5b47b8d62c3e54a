package field

import (
	"context"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// Cleaner brings what was typed into its stored form, and collects what is wrong with it by parameter.
type Cleaner struct {
	onTeam   func(user int64) bool
	custom   Set
	region   string
	problems fault.Problems
}

// NewCleaner makes a cleaner for records with custom values, whose fields it reads.
func (r *Room) NewCleaner(ctx context.Context, tx *db.Tx, entity string) (*Cleaner, error) {
	c := r.plainCleaner()
	var err error
	c.custom, err = Writable(ctx, tx, entity)
	return c, err
}

// plainCleaner makes a cleaner for records without custom values.
func (r *Room) plainCleaner() *Cleaner {
	return &Cleaner{onTeam: r.Identity.OnTeam, region: r.country(), problems: fault.Problems{}}
}

// CleanerFor makes the cleaner that a request needs: custom fields are read only where it has values for them.
func (r *Room) CleanerFor(ctx context.Context, tx *db.Tx, entity string, fields opt.Value[map[string]any]) (*Cleaner, error) {
	if len(fields.V) == 0 {
		return r.plainCleaner(), nil
	}
	return r.NewCleaner(ctx, tx, entity)
}

// Email is an address in its stored form. It notes what is wrong with the address.
func (c *Cleaner) Email(typed string) string {
	stored, problem := EmailValue(typed)
	c.problems.Add("email", problem)
	return stored
}

// EmailValue is an address in its stored form.
func EmailValue(typed string) (string, fault.Problem) {
	stored, err := address.Parse(typed)
	switch {
	case err == nil:
		return stored, fault.Problem{}
	case utf8.RuneCountInString(typed) > address.Max:
		return "", fault.TooLong(address.Max)
	}
	return "", fault.Email()
}

// Phone is a number in its stored form.
func (c *Cleaner) Phone(typed string) string { return person.Phone(typed, c.region) }

// Website is a web address in its stored form. It notes what is wrong with the address.
func (c *Cleaner) Website(typed string) string {
	stored, err := person.Website(typed)
	if err != nil {
		c.problems.Add("website", fault.NewProblem("url", err.Error()))
	}
	return stored
}

// Country is a country by its ISO code. It notes one that there is not.
func (c *Cleaner) Country(typed string) string {
	stored, err := person.Country(typed)
	if err != nil {
		c.problems.Add("country", fault.NewProblem("country", err.Error()))
	}
	return stored
}

// Values brings custom values into their stored form; a value that is empty is nil.
func (c *Cleaner) Values(v map[string]any) map[string]any {
	return c.custom.clean(v, c.region, c.problems)
}

// Shown is custom values without those of archived fields.
func (c *Cleaner) Shown(values map[string]any) map[string]any {
	shown := map[string]any{}
	for k, v := range values {
		if _, ok := c.custom[k]; ok {
			shown[k] = v
		}
	}
	return shown
}

// Err is the refusal of all that was wrong; nil if nothing was.
func (c *Cleaner) Err() error { return c.problems.Err() }

// Cell is the stored form of a cell for the custom field with a key, as spreadsheets of the business's country write it: nil if it is empty, or
// if the field is not there or is archived.
func (c *Cleaner) Cell(key, cell string) (any, fault.Problem) {
	f, ok := c.custom[key]
	if !ok {
		return nil, fault.Problem{}
	}
	switch f.Type {
	case "date":
		if cell, ok = csvfile.Date(cell, c.region); !ok {
			return nil, fault.Day()
		}
	case "number":
		if cell, ok = csvfile.Decimal(cell, c.region); !ok {
			return nil, fault.NewProblem("number", "must be a number without a separator between thousands")
		}
	case "email":
		cell = csvfile.Address(cell)
	case "phone":
		if cell, ok = csvfile.PhoneNumber(cell); !ok {
			return nil, NumberLost()
		}
	}
	return f.value(cell, c.region)
}

// NumberLost is the problem of a telephone number whose last digits a spreadsheet has rounded away.
func NumberLost() fault.Problem {
	return fault.NewProblem("number_lost", "was shortened by a spreadsheet: its last digits are lost")
}

// Size refuses custom values that are too much for one record.
func (c *Cleaner) Size(fields map[string]any) {
	if len(fields) > 0 && TooMuch(fields) {
		c.problems.Add("fields", fault.NewProblem("too_large", "must have at most 262144 bytes in all", "max", MaxValues))
	}
}

const (
	MaxTag  = 100 // characters of a tag
	MaxTags = 100 // of a contact
)

// given reads the values of a request one by one, and remembers which were given.
type given struct {
	*Cleaner
	Names record.Names
}

// Given reads the values of one request.
func (c *Cleaner) Given() given { return given{c, record.Names{}} }

// Text reads a text; null stands for the empty one.
func (g given) Text(name string, v opt.Value[string], stored func(string) string) string {
	if !v.Set {
		return ""
	}
	g.Names[name] = true
	return stored(v.V)
}

// FilledText reads a text that must not be empty.
func (g given) FilledText(name string, v opt.Value[string], stored func(string) string) string {
	text := g.Text(name, v, stored)
	if v.Set && text == "" {
		g.problems.Add(name, fault.Empty())
	}
	return text
}

// Owner reads a user who has to be on the team; nil for nobody.
func (g given) Owner(v opt.Value[int64]) (owner *int64) {
	if !v.Set {
		return nil
	}
	g.Names["owner_user_id"] = true
	if v.ApplyPtr(&owner); owner != nil && !g.onTeam(*owner) {
		g.problems.Add("owner_user_id", fault.NewProblem("not_on_team", "must be a member of the team"))
	}
	return owner
}

// Tags reads tags as typed: tag.Names gives their names.
func (g given) Tags(v opt.Value[[]string]) []string {
	if !v.Set {
		return nil
	}
	g.Names["tags"] = true
	for _, t := range v.V {
		if utf8.RuneCountInString(t) > MaxTag {
			g.problems.Add("tags", TagTooLong())
		}
	}
	return v.V
}

// TagTooLong is the problem of a tag with more than MaxTag characters.
func TagTooLong() fault.Problem {
	return fault.NewProblem("too_long", "must have at most 100 characters each", "max", MaxTag)
}

// Values reads custom values, null for those to clear.
func (g given) Values(v opt.Value[map[string]any]) map[string]any {
	if !v.Set {
		return nil
	}
	g.Names["fields"] = true
	return g.Cleaner.Values(v.V)
}

// country is that of the business: numbers without one are read as its own.
func (r *Room) country() string {
	var general struct {
		Country string `json:"country"`
	}
	r.Site.Read("general", &general)
	return general.Country
}
