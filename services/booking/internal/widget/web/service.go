package web

import (
	"time"

	"frontdesk/libs/form"
)

// services is the answer of GET /booking/services.
type services struct {
	Items         []service `json:"items"`
	Currency      string    `json:"currency"`
	TermsText     string    `json:"terms_text"`
	ClientChanges bool      `json:"client_changes"`
}

func (s services) find(id string) *service {
	for i := range s.Items {
		if s.Items[i].ID == id {
			return &s.Items[i]
		}
	}
	return nil
}

// of are the services that a person does.
func (s services) of(person int64) (theirs []service) {
	for _, one := range s.Items {
		if one.staffName(person) != "" {
			theirs = append(theirs, one)
		}
	}
	return theirs
}

type service struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Description     string  `json:"description"`
	DurationMin     int     `json:"duration_min"`
	Price           *string `json:"price"`
	LocationType    string  `json:"location_type"`
	LocationDetails string  `json:"location_details"`
	Confirmation    string  `json:"confirmation"`
	Staff           []staff `json:"staff"`
	// Form is that of the API's answer, null when the plain details are asked.
	Form *struct {
		Elements []form.Element `json:"elements"`
	} `json:"form,omitempty"`
	// Questions are all that the details step asks.
	Questions []form.Question `json:"-"`
	// Words is the version of the consents among them, as time tokens have it.
	Words string `json:"words"`
}

type staff struct {
	UserID int64  `json:"user_id"`
	Name   string `json:"name"`
}

// ask works out the questions of the details step, against the custom fields of now.
func (s *service) ask(fields form.Fields) {
	elements := form.Details()
	if s.Form != nil {
		elements = s.Form.Elements
	}
	calls, where := s.LocationType == "phone", s.LocationType == "client"
	if calls {
		var asked bool
		elements, asked = form.Called(elements)
		where = !asked
	}
	if where {
		elements = append([]form.Element{form.Location()}, elements...)
	}
	s.Form, s.Questions, s.Words = nil, form.Shown(form.Ask(elements, fields)), form.ConsentVersion(elements)
	if where && calls {
		s.Questions[0].Kind = form.KindPhone
	}
}

// staffName is the name of a person who does the service, "" for anybody else.
func (s service) staffName(id int64) string {
	for _, m := range s.Staff {
		if m.UserID == id {
			return m.Name
		}
	}
	return ""
}

// freeTimes is the answer of GET /booking/slots.
type freeTimes struct {
	Items []slot `json:"items"`
	Token string `json:"token"`
}

type slot struct {
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Staff    []int64   `json:"staff"`
}

// appointment is one as its client sees it.
type appointment struct {
	Status   string    `json:"status"`
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Service  struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"service"`
	Staff        staff  `json:"staff"`
	LocationType string `json:"location_type"`
	Location     string `json:"location"`
}
