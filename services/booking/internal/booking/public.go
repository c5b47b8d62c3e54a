package booking

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// PublicService is a service as visitors see it.
type PublicService struct {
	ID              uuid.UUID              `json:"id" format:"uuid" doc:"The id of the record."`
	Name            string                 `json:"name" doc:"What visitors read."`
	Description     string                 `json:"description" doc:"What visitors read about it."`
	DurationMin     int                    `json:"duration_min" doc:"How long it takes, in minutes."`
	Price           *string                `json:"price" doc:"The price; null for none."`
	LocationType    string                 `json:"location_type" doc:"Where it takes place."`
	LocationDetails string                 `json:"location_details" doc:"The address or other words about the place."`
	Confirmation    string                 `json:"confirmation" doc:"auto books at once, review waits for somebody to confirm."`
	Staff           []StaffRef             `json:"staff" doc:"The people who offer it."`
	Form            opt.Value[DetailsForm] `json:"form" doc:"What the details step asks; null for name, address, phone number and a message."`
}

// PublicServices is the list of them, and what the booking page says around it.
type PublicServices struct {
	Items         []PublicService `json:"items" doc:"The services that visitors can book."`
	NextCursor    *string         `json:"next_cursor" doc:"Always null: there is one page."`
	Total         int64           `json:"total" doc:"How many services there are."`
	Timezone      string          `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Currency      string          `json:"currency" doc:"The ISO code of the currency."`
	Business      string          `json:"business" doc:"The name of the business."`
	TermsText     string          `json:"terms_text" doc:"Words that visitors read before they book."`
	ClientChanges bool            `json:"client_changes" doc:"Visitors can move and cancel their appointments by the link of a mail."`
}

func (s *service) publicServices(ctx context.Context, tx *db.Tx, _ op.None) (PublicServices, error) {
	site := s.general()
	c, err := s.readCatalog(ctx, tx)
	if err != nil {
		return PublicServices{}, err
	}
	out := PublicServices{Items: []PublicService{}, Total: int64(len(c.services)), Timezone: s.Config.Timezone, Currency: site.Currency,
		Business: site.Business.Name, TermsText: c.settings.TermsText, ClientChanges: c.settings.ClientChanges}
	for _, b := range c.services {
		p := PublicService{ID: b.ID, Name: b.Name, Description: b.Description, DurationMin: b.DurationMin, Price: b.Price, LocationType: b.LocationType,
			LocationDetails: b.LocationDetails, Confirmation: b.Confirmation, Staff: []StaffRef{}}
		for _, user := range s.staffOf(tx, b) {
			p.Staff = append(p.Staff, StaffRef{user, s.staffName(user, c.staff[user].Name)})
		}
		if form, ok := c.forms.of(b, c.settings); ok {
			p.Form = opt.Of(form)
		}
		out.Items = append(out.Items, p)
	}
	return out, nil
}
