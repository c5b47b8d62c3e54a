package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// body is that of a call.
type body = map[string]any

// atOnce is how many calls run at a time: enough to be quick, few enough to leave the machine to others.
const atOnce = 8

// made is what the parts of the business are called in the system.
type made struct {
	staff         []int64
	services      []string
	organizations []string
	forms         []string
	insurer       string // the key of a custom field
}

// fill creates the records that are missing, so that a second run completes one that ended early. It books a person's visits only if
// that person has no appointment yet.
func (d *demo) fill(now time.Time, months, count int) error {
	var site struct{ Timezone string }
	if _, err := d.Call("GET", "/site", nil, &site); err != nil {
		return err
	}
	zone, err := time.LoadLocation(site.Timezone)
	if err != nil {
		return err
	}
	fmt.Println("staff, services, organizations, forms")
	if err := d.settle(); err != nil {
		return err
	}
	var m made
	for _, step := range []func(*made) error{d.fillStaff, d.fillServices, d.fillOrganizations, d.fillFields, d.fillForms, d.fillWebhook} {
		if err := step(&m); err != nil {
			return err
		}
	}
	var background errgroup.Group
	background.Go(func() error { return d.write(m.forms) })
	if err := d.fillTimeOff(m, now.In(zone)); err != nil {
		return err
	}

	people := plan(now.In(zone), months, count)
	fmt.Printf("%d people and their visits\n", len(people))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, p := range people {
		group.Go(func() error { return d.fillPerson(p, m) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Println("visitors write; a form takes five messages a minute from one address")
	return background.Wait()
}

// settle gives the business its name and rules, unless somebody has said already how it is reached.
func (d *demo) settle() error {
	var general struct {
		Business struct{ Phone, Website string }
	}
	if _, err := d.Call("GET", "/settings/general", nil, &general); err != nil || general.Business.Phone+general.Business.Website != "" {
		return err
	}
	for path, settings := range map[string]body{
		"/settings/general": {"business": body{"name": "Praktijk Linde", "phone": "+32 9 123 45 67", "website": "https://linde.example.com"}, "country": "BE", "currency": "EUR"},
		"/settings/portal":  {"booking_page": true},
		"/settings/booking": {"min_notice_min": 120, "max_advance_days": 90, "cancel_notice_hours": 24, "client_changes": true,
			"terms_text": "You can move or cancel until a day before. We keep your details for your treatment only."},
	} {
		if _, err := d.Call("PATCH", path, settings, nil); err != nil {
			return err
		}
	}
	return nil
}

// record is what parts of lists have in common.
type record struct {
	ID       json.RawMessage `json:"id"`
	UserID   int64           `json:"user_id"`
	Name     string          `json:"name"`
	Label    string          `json:"label"`
	Email    string          `json:"email"`
	Key      string          `json:"key"`
	Slug     string          `json:"slug"`
	Archived bool            `json:"archived"`
}

// id is that of a record whose ids are text or numbers.
func (r record) id() string { return strings.Trim(string(r.ID), `"`) }

// list answers all pages.
func (d *demo) list(path string) ([]record, error) {
	var all []record
	for cursor := ""; ; {
		var page struct {
			Items []record
			Next  string `json:"next_cursor"`
		}
		u, err := url.Parse(path)
		if err != nil {
			return nil, err
		}
		if q := u.Query(); cursor != "" {
			q.Set("cursor", cursor)
			u.RawQuery = q.Encode()
		}
		if _, err := d.Call("GET", u.String(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
}

// find returns the first record of a list that ours accepts, or a record without an id.
func (d *demo) find(path string, ours func(record) bool) (record, error) {
	all, err := d.list(path)
	if i := slices.IndexFunc(all, ours); i >= 0 {
		return all[i], err
	}
	return record{}, err
}

// ensure returns the record with a name. It creates the record if the list lacks it.
func (d *demo) ensure(list, path, name string, what body) (record, error) {
	found, err := d.find(list, func(r record) bool { return r.Name == name || r.Label == name })
	if err != nil || found.ID != nil {
		return found, err
	}
	_, err = d.Call("POST", path, what, &found)
	return found, err
}

func (d *demo) fillStaff(m *made) error {
	for _, c := range staff {
		found, err := d.find("/staff", func(r record) bool { return r.Email == c.email })
		if err != nil {
			return err
		}
		if found.UserID == 0 {
			if _, err := d.Call("POST", "/staff", body{"name": c.name, "email": c.email, "role": "staff"}, &found); err != nil {
				return err
			}
		}
		hours := body{}
		for _, day := range c.days {
			hours[strconv.Itoa(day)] = [][]string{{"09:00", "12:00"}, {"13:00", "17:30"}}
		}
		path := fmt.Sprintf("/staff/%d", found.UserID)
		// A new colleague reaches the booking service over Kafka.
		if err := eventually(func() error { _, err := d.Call("PUT", path+"/hours", body{"hours": hours}, nil); return err }); err != nil {
			return err
		}
		if _, err := d.Call("PATCH", path, body{"meeting_url": "https://meet.example.com/" + plain.Replace(strings.ToLower(c.name))}, nil); err != nil {
			return err
		}
		m.staff = append(m.staff, found.UserID)
	}
	return nil
}

// eventually tries for ten seconds.
func eventually(try func() error) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if err := try(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

func (d *demo) fillServices(m *made) error {
	for i, s := range services {
		confirmation := "auto"
		if s.review {
			confirmation = "review"
		}
		made, err := d.ensure("/services", "/services", s.name, body{"name": s.name, "description": s.description, "duration_min": s.minutes, "price": s.price,
			"location_type": s.location, "location_details": "Lindelaan 12, Gent", "confirmation": confirmation, "bookable_online": true, "sort_order": i + 1, "staff": m.staff})
		if err != nil {
			return err
		}
		m.services = append(m.services, made.id())
	}
	return nil
}

func (d *demo) fillOrganizations(m *made) error {
	for _, o := range organizations {
		made, err := d.ensure("/organizations?search="+url.QueryEscape(o.name), "/organizations", o.name, body{"name": o.name, "email": o.email, "website": o.website,
			"address_line": o.street, "postal_code": o.postcode, "city": o.city, "country": o.country})
		if err != nil {
			return err
		}
		m.organizations = append(m.organizations, made.id())
	}
	return nil
}

func (d *demo) fillFields(m *made) error {
	field, err := d.ensure("/fields?entity=contact&include_archived=true", "/fields", insurer, body{"entity": "contact", "type": "dropdown", "label": insurer, "options": insurers, "show_in_list": true})
	if err == nil && field.Archived {
		_, err = d.Call("PATCH", "/fields/"+field.id(), body{"archived": false}, nil)
	}
	m.insurer = field.Key
	return err
}

func (d *demo) fillForms(m *made) error {
	for _, f := range forms {
		form, err := d.find("/forms", func(r record) bool { return r.Name == f.name })
		if err != nil {
			return err
		}
		if form.ID == nil {
			if form, err = d.makeForm(f.template, f.name); err != nil {
				return err
			}
		}
		m.forms = append(m.forms, form.id())
	}
	return nil
}

// makeForm publishes a form whose writers are people of the demo.
func (d *demo) makeForm(template, name string) (form record, err error) {
	var made struct {
		record
		Definition body
	}
	if _, err = d.Call("POST", "/forms", body{"template": template, "name": name}, &made); err != nil {
		return record{}, err
	}
	people, ok := made.Definition["new_contacts"].(body)
	if !ok {
		return record{}, fmt.Errorf("the form %s makes no contacts", name)
	}
	people["tags"] = []string{tag}
	_, err = d.Call("PATCH", "/forms/"+made.id(), body{"status": "publish", "definition": made.Definition}, nil)
	return made.record, err
}

// fillWebhook makes one that is off, because its receiver does not exist.
func (d *demo) fillWebhook(*made) error {
	_, err := d.ensure("/webhooks", "/webhooks", webhook, body{"name": webhook, "url": "https://hooks.example.com/frontdesk", "active": false,
		"events": []string{"contact.created", "appointment.booked", "appointment.completed"}})
	return err
}

// fillTimeOff closes the business at the end of the year and gives each colleague a week off.
func (d *demo) fillTimeOff(m made, now time.Time) error {
	end := time.Date(now.Year(), 12, 31, 0, 0, 0, 0, now.Location())
	if _, err := d.ensure("/closures", "/closures", closure, body{"type": "closed", "label": closure, "date_from": end.AddDate(0, 0, -6).Format(time.DateOnly), "date_to": end.AddDate(0, 0, 1).Format(time.DateOnly)}); err != nil {
		return err
	}
	for i, user := range m.staff {
		path := fmt.Sprintf("/staff/%d/exceptions", user)
		monday := now.AddDate(0, 0, 21+14*i-(int(now.Weekday())+6)%7)
		if _, err := d.ensure(path, path, "Holiday", body{"type": "closed", "label": "Holiday", "date_from": monday.Format(time.DateOnly), "date_to": monday.AddDate(0, 0, 4).Format(time.DateOnly)}); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) fillPerson(p person, m made) error {
	var contact struct {
		ID   string
		Data struct{ ID string } // of a refusal, because the address exists
	}
	status, err := d.Call("POST", "/contacts", body{"first_name": p.first, "last_name": p.last, "email": p.email, "phone": p.phone, "status": p.status, "source": p.source,
		"tags": p.tags, "owner_user_id": m.staff[p.staff], "fields": body{m.insurer: p.insurer}}, &contact)
	if err != nil {
		return err
	}
	if status == http.StatusConflict {
		contact.ID = contact.Data.ID
	} else {
		if p.note != "" {
			if _, err := d.Call("POST", "/contacts/"+contact.ID+"/notes", body{"body": p.note}, nil); err != nil {
				return err
			}
		}
		if p.organization >= 0 {
			if _, err := d.Call("PUT", "/organizations/"+m.organizations[p.organization]+"/contacts/"+contact.ID, body{"role": p.role, "is_primary": true}, nil); err != nil {
				return err
			}
		}
	}
	var had struct{ Items []record }
	if _, err := d.Call("GET", "/appointments?contact="+contact.ID, nil, &had); err != nil || len(had.Items) > 0 {
		return err
	}
	for _, v := range p.visits {
		if err := d.fillVisit(p, contact.ID, v, m); err != nil {
			return err
		}
	}
	return nil
}

// fillVisit books a visit and brings it to its status. A time that somebody else has is left out.
func (d *demo) fillVisit(p person, contact string, v visit, m made) error {
	booking := body{"contact": contact, "service": m.services[v.service], "staff": m.staff[p.staff], "starts_at": v.start, "outside_hours": true, "notes": v.note}
	if v.service == homeVisit {
		booking["location"] = "Kouter 3, 9000 Gent"
	}
	if v.status == "pending" {
		booking["status"] = "pending"
	}
	var made struct{ ID string }
	var status int
	// A new contact reaches the booking service over Kafka.
	err := eventually(func() (err error) { status, err = d.Call("POST", "/appointments", booking, &made); return err })
	if err != nil || status == http.StatusConflict {
		return err
	}
	action := map[string]string{"completed": "complete", "no_show": "no-show", "cancelled": "cancel"}[v.status]
	if action == "" {
		return nil
	}
	_, err = d.Call("POST", "/appointments/"+made.ID+"/"+action, body{}, nil)
	return err
}

// write sends what visitors write, no faster than a form takes it from one address. One message is spam.
func (d *demo) write(forms []string) error {
	messages := []body{
		{"first_name": "Saskia", "last_name": "Thys", "email": "saskia.thys@example.com", "message": "My knee hurts after ten kilometres. Which visit should I book?"},
		{"first_name": "Ruben", "last_name": "Haeck", "email": "ruben.haeck@example.com", "message": "Do you work with my insurer, Helan?"},
		{"first_name": "Promo", "last_name": "Deals", "email": "promo@deals.example.com", "message": "Cheap followers, [url=https://deals.example.com]click now[/url]."},
		{"first_name": "Ida", "last_name": "Vercruysse", "email": "ida.vercruysse@example.com", "message": "Is the practice accessible for wheelchairs?"},
	}
	for _, m := range messages {
		m["privacy"] = true
	}
	var group errgroup.Group
	group.Go(func() error { return d.submit(forms[0], messages) })
	group.Go(func() error {
		return d.submit(forms[1], []body{{"first_name": "Karel", "last_name": "Buyse", "phone": "+32470112233", "call_time": "Morning", "subject": "A home visit for my mother", "privacy": true}})
	})
	return group.Wait()
}

func (d *demo) submit(form string, messages []body) error {
	had, err := d.list("/submissions?form=" + form)
	if err != nil || len(had) > 0 {
		return err
	}
	tokens := make([]struct{ Token string }, len(messages))
	for i := range tokens {
		if _, err := d.Call("GET", "/forms/"+form+"/token", nil, &tokens[i]); err != nil {
			return err
		}
	}
	time.Sleep(4 * time.Second) // a person needs that long at least
	for i, values := range messages {
		if _, err := d.Call("POST", "/forms/"+form+"/submit", body{"token": tokens[i].Token, "hp_url": "", "page": "https://linde.example.com/contact", "values": values}, nil); err != nil {
			return err
		}
	}
	return nil
}
