package booking

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "bea@example.com")).Is(201)
	id, _ := o.admin.Get("/appointments").Is(200).Items()[0]["id"].(string)
	services := "/services/" + o.admin.Post("/services", `{"name":"Talk","duration_min":30}`).Is(201).Text("id")
	o.CheckVersions(o.admin, map[string]apptest.Change{
		"PATCH /appointments/{id}": {Path: "/appointments/" + id, Body: `{"notes":"rings twice"}`},
		"PATCH /services/{id}":     {Path: services, Body: `{"name":"Long talk"}`},
		"DELETE /services/{id}":    {Path: services},
		"PATCH /settings/booking":  {Path: "/settings/booking", Body: `{"terms_text":"Be on time."}`},
	})
}
