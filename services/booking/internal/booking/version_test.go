package booking

import (
	"fmt"
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "bea@example.com")).Is(201)
	id, _ := o.admin.Get("/appointments").Is(200).Items()[0]["id"].(string)
	services := "/services/" + o.admin.Post("/services", `{"name":"Talk","duration_min":30}`).Is(201).Text("id")
	other := o.admin.Post("/services", `{"name":"Walk","duration_min":30}`).Is(201).Text("id")
	staff := fmt.Sprint("/staff/", o.staff.UserID)
	calendars := staff + "/calendars"
	calendar := calendars + "/" + o.admin.Post(calendars, `{"kind":"ics","name":"Mine","url":"https://calendar.example/a.ics"}`).Is(201).Text("id")
	tag := func() string { return o.admin.Patch(calendar, `{}`).Is(200).Header.Get("ETag") }
	o.CheckVersions(o.admin, map[string]apptest.Change{
		"PATCH /appointments/{id}": {Path: "/appointments/" + id, Body: `{"notes":"rings twice"}`},
		"PUT /services/order":      {Path: "/services/order", Body: `{"services":["` + other + `"]}`, Tag: func() string { return o.admin.Get("/services").Is(200).Header.Get("ETag") }},

		"PATCH /services/{id}":    {Path: services, Body: `{"name":"Long talk"}`},
		"DELETE /services/{id}":   {Path: services},
		"PUT /staff/{user}/hours": {Path: staff + "/hours", Body: `{"hours":{"1":[["08:00","12:00"]]}}`},
		// Name, meeting link and services are under one version with the hours.
		"PATCH /staff/{user}":                 {Path: staff, Body: `{"name":"Dora","services":["` + other + `"]}`, Tag: func() string { return o.admin.Get(staff + "/hours").Is(200).Header.Get("ETag") }},
		"PATCH /staff/{user}/calendars/{id}":  {Path: calendar, Body: `{"name":"Mine at home"}`, Tag: tag},
		"DELETE /staff/{user}/calendars/{id}": {Path: calendar, Tag: tag},
		"PATCH /settings/booking":             {Path: "/settings/booking", Body: `{"terms_text":"Be on time."}`},
	})
}
