package privacy

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/task"
	"frontdesk/services/contacts/internal/timeline"
)

// emailQuery names a person by address.
type emailQuery struct {
	Email string `json:"email" required:"true" maxLength:"190" format:"email" doc:"The email address of the person."`
}

// personalData is all that is kept about the person with an address.
type personalData struct {
	Email    string         `json:"email" doc:"The email address that was asked for."`
	Contacts []personRecord `json:"contacts" doc:"One at most that is not in the trash."`
	// Appointments and submissions with the address that belong to no contact.
	Appointments []personAppointment `json:"appointments" doc:"With the address and without a contact."`
	Submissions  []personSubmission  `json:"submissions" doc:"With the address and without a contact."`
}

// personRecord is a contact with everything about it.
type personRecord struct {
	Contact       contact.Contact     `json:"contact"`
	Organizations []link.Link         `json:"organizations" doc:"The organizations that they are linked with."`
	Timeline      []timeline.Entry    `json:"timeline" doc:"What happened."`
	Consents      []marketing.Consent `json:"consents" doc:"What they consented to."`
	Tasks         []task.Task         `json:"tasks" doc:"What the team had to do about them."`
	Appointments  []personAppointment `json:"appointments" doc:"The appointments."`
	Submissions   []personSubmission  `json:"submissions" doc:"What they sent by forms."`
}

// personAppointment is an appointment of the person.
type personAppointment struct {
	ID       uuid.UUID `json:"id" doc:"The id of the record."`
	Status   string    `json:"status" doc:"Its status."`
	Service  string    `json:"service" doc:"The name of the service."`
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
	EndsAt   time.Time `json:"ends_at" doc:"When it ends."`
}

// personSubmission is a form that the person sent.
type personSubmission struct {
	ID        uuid.UUID `json:"id" doc:"The id of the record."`
	Form      string    `json:"form" doc:"The name of the form."`
	CreatedAt time.Time `json:"created_at" doc:"When it was sent."`
}

// exportPersonalData returns all data about the person with an address, also from the trash; null for an unknown address.
// Submissions and appointments are named; what was answered is read from forms, by their ids. Who sees only their own
// contacts gets only these.
func (r *Room) exportPersonalData(ctx context.Context, tx *db.Tx, in emailQuery) (opt.Value[personalData], error) {
	none := opt.Value[personalData]{}
	email, err := address.Parse(in.Email)
	if err != nil || email == "" {
		return none, fault.Invalid("email", fault.Email())
	}
	key := address.Key(email)
	var w db.Where
	w.And("c.email_key = ? and c.email_key <> ''", key)
	contact.OnlyOwn(&w, tx)
	contacts, err := contact.Query(ctx, tx, `select `+contact.Whole+contact.From+` where `+w.String()+` order by c.deleted_at is not null, c.created_at, c.id`, w.Args...)
	if err != nil {
		return none, err
	}
	data := personalData{Email: email, Contacts: []personRecord{}, Appointments: []personAppointment{}, Submissions: []personSubmission{}}
	for _, c := range contacts {
		row, err := recordOf(ctx, tx, c)
		if err != nil {
			return none, err
		}
		data.Email = contacts[0].Email
		data.Contacts = append(data.Contacts, row)
	}
	if !tx.Who.Own {
		if data.Appointments, data.Submissions, err = r.withoutContact(ctx, tx, key); err != nil {
			return none, err
		}
	}
	if len(data.Contacts)+len(data.Appointments)+len(data.Submissions) == 0 {
		return none, nil
	}
	return opt.Of(data), nil
}

// withoutContact are the appointments and submissions that name an address and belong to no contact.
func (r *Room) withoutContact(ctx context.Context, tx *db.Tx, key string) (appointments []personAppointment, submissions []personSubmission, err error) {
	called := [][]byte{r.Keys.Person(key)}
	rows, err := tx.Query(ctx, `select id, status, service_name as service, starts_at, ends_at from appointment a
		where people && $1 and not exists (select from contact c where c.id = a.contact_id) order by starts_at, id`, called)
	if err != nil {
		return nil, nil, err
	}
	if appointments, err = pgx.CollectRows(rows, pgx.RowToStructByName[personAppointment]); err != nil {
		return nil, nil, err
	}
	if rows, err = tx.Query(ctx, `select id, form_name as form, created_at from submission where people && $1 and contact_id is null order by created_at, id`, called); err != nil {
		return nil, nil, err
	}
	submissions, err = pgx.CollectRows(rows, pgx.RowToStructByName[personSubmission])
	return appointments, submissions, err
}

func recordOf(ctx context.Context, tx *db.Tx, c contact.Contact) (r personRecord, err error) {
	r.Contact = c
	if r.Organizations, err = link.Of(ctx, tx, c.ID); err != nil {
		return r, err
	}
	if r.Consents, err = marketing.ConsentsOf(ctx, tx, c.ID); err != nil {
		return r, err
	}
	rows, err := tx.Query(ctx, `select `+timeline.Columns+timeline.Pinned+` from activity a left join contact c on c.id = a.contact_id where a.contact_id = $1
		order by a.created_at, a.id`, c.ID)
	if err != nil {
		return r, err
	}
	if r.Timeline, err = pgx.CollectRows(rows, timeline.Scan); err != nil {
		return r, err
	}
	if r.Tasks, err = task.Of(ctx, tx, c.ID); err != nil {
		return r, err
	}
	if rows, err = tx.Query(ctx, `select id, status, service_name as service, starts_at, ends_at from appointment where contact_id = $1 order by starts_at, id`, c.ID); err != nil {
		return r, err
	}
	if r.Appointments, err = pgx.CollectRows(rows, pgx.RowToStructByName[personAppointment]); err != nil {
		return r, err
	}
	if rows, err = tx.Query(ctx, `select id, form_name as form, created_at from submission where contact_id = $1 order by created_at, id`, c.ID); err != nil {
		return r, err
	}
	r.Submissions, err = pgx.CollectRows(rows, pgx.RowToStructByName[personSubmission])
	return r, err
}
