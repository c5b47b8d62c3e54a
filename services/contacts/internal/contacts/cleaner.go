package contacts

import (
	"context"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// cleaner brings what was typed into its stored form, and collects what is wrong with it by parameter.
type cleaner struct {
	onTeam   func(user int64) bool
	custom   fieldSet
	region   string
	problems fault.Problems
}

// newCleaner makes a cleaner for records with custom values, whose fields it reads.
func (s *service) newCleaner(ctx context.Context, tx *db.Tx, entity string) (*cleaner, error) {
	c := s.plainCleaner()
	var err error
	c.custom, err = writableFields(ctx, tx, entity)
	return c, err
}

// plainCleaner makes a cleaner for records without custom values.
func (s *service) plainCleaner() *cleaner {
	return &cleaner{onTeam: s.Identity.OnTeam, region: s.country(), problems: fault.Problems{}}
}

// cleanerFor makes the cleaner that a request needs: custom fields are read only where it has values for them.
func (s *service) cleanerFor(ctx context.Context, tx *db.Tx, entity string, fields opt.Value[map[string]any]) (*cleaner, error) {
	if len(fields.V) == 0 {
		return s.plainCleaner(), nil
	}
	return s.newCleaner(ctx, tx, entity)
}

func (c *cleaner) email(typed string) string {
	stored, problem := emailValue(typed)
	c.problems.Add("email", problem)
	return stored
}

// emailValue is an address in its stored form.
func emailValue(typed string) (string, fault.Problem) {
	stored, err := address.Parse(typed)
	switch {
	case err == nil:
		return stored, fault.Problem{}
	case utf8.RuneCountInString(typed) > address.Max:
		return "", fault.TooLong(address.Max)
	}
	return "", fault.Email()
}

func (c *cleaner) phone(typed string) string { return person.Phone(typed, c.region) }

func (c *cleaner) website(typed string) string {
	stored, err := person.Website(typed)
	if err != nil {
		c.problems.Add("website", fault.NewProblem("url", err.Error()))
	}
	return stored
}

func (c *cleaner) country(typed string) string {
	stored, err := person.Country(typed)
	if err != nil {
		c.problems.Add("country", fault.NewProblem("country", err.Error()))
	}
	return stored
}

// values brings custom values into their stored form; a value that is empty is nil.
func (c *cleaner) values(v map[string]any) map[string]any {
	return c.custom.clean(v, c.region, c.problems)
}

// shown is custom values without those of archived fields.
func (c *cleaner) shown(values map[string]any) map[string]any {
	shown := map[string]any{}
	for k, v := range values {
		if _, ok := c.custom[k]; ok {
			shown[k] = v
		}
	}
	return shown
}

// err is the refusal of all that was wrong; nil if nothing was.
func (c *cleaner) err() error { return c.problems.Err() }

// value is the stored form of a text for the custom field with a key: nil if it is empty, or if the field is not there or is archived.
func (c *cleaner) value(key, text string) (any, fault.Problem) {
	f, ok := c.custom[key]
	if !ok {
		return nil, fault.Problem{}
	}
	return f.value(text, c.region)
}

// size refuses custom values that are too much for one record.
func (c *cleaner) size(fields map[string]any) {
	if len(fields) > 0 && tooMuch(fields) {
		c.problems.Add("fields", fault.NewProblem("too_large", "must have at most 262144 bytes in all", "max", maxValues))
	}
}

const (
	maxTag  = 100 // characters of a tag
	maxTags = 100 // of a contact
)

// given reads the values of a request one by one, and remembers which were given.
type given struct {
	*cleaner
	names record.Names
}

// given reads the values of one request.
func (c *cleaner) given() given { return given{c, record.Names{}} }

// text reads a text; null stands for the empty one.
func (g given) text(name string, v opt.Value[string], stored func(string) string) string {
	if !v.Set {
		return ""
	}
	g.names[name] = true
	return stored(v.V)
}

// filledText reads a text that must not be empty.
func (g given) filledText(name string, v opt.Value[string], stored func(string) string) string {
	text := g.text(name, v, stored)
	if v.Set && text == "" {
		g.problems.Add(name, fault.Empty())
	}
	return text
}

func (g given) owner(v opt.Value[int64]) (owner *int64) {
	if !v.Set {
		return nil
	}
	g.names["owner_user_id"] = true
	if v.ApplyPtr(&owner); owner != nil && !g.onTeam(*owner) {
		g.problems.Add("owner_user_id", fault.NewProblem("not_on_team", "must be a member of the team"))
	}
	return owner
}

// tags reads tags as typed: tagNames gives their names.
func (g given) tags(v opt.Value[[]string]) []string {
	if !v.Set {
		return nil
	}
	g.names["tags"] = true
	for _, t := range v.V {
		if utf8.RuneCountInString(t) > maxTag {
			g.problems.Add("tags", tagTooLong())
		}
	}
	return v.V
}

func tagTooLong() fault.Problem {
	return fault.NewProblem("too_long", "must have at most 100 characters each", "max", maxTag)
}

// values reads custom values, null for those to clear.
func (g given) values(v opt.Value[map[string]any]) map[string]any {
	if !v.Set {
		return nil
	}
	g.names["fields"] = true
	return g.cleaner.values(v.V)
}

// country is that of the business: numbers without one are read as its own.
func (s *service) country() string {
	var general struct {
		Country string `json:"country"`
	}
	s.Site.Read("general", &general)
	return general.Country
}
