package services

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
)

func onForm(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if e.Tombstone {
		_, err = tx.Exec(ctx, `delete from form where id = $1`, id)
		return err
	}
	var f struct {
		Status     string `json:"status"`
		Definition struct {
			Elements []form.Element `json:"elements"`
		} `json:"definition"`
	}
	if err := e.Decode(&f); err != nil {
		return err
	}
	elements, err := json.Marshal(f.Definition.Elements)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into form as f (id, version, status, trashed, elements) values ($1, $2, $3, $4, $5)
		on conflict (id) do update set version = excluded.version, status = excluded.status, trashed = excluded.trashed, elements = excluded.elements
			where f.version < $6`, id, e.Version, f.Status, e.Kind == proto.KindFormDeleted, elements, e.ReplacesBelow())
	return err
}

// DetailsForm is the form of the details step, as a visitor sees it.
type DetailsForm struct {
	ID       int64          `json:"id" doc:"The id of the form."`
	Elements []form.Element `json:"elements" doc:"Fields, texts and consents, in their order."`
}

// plain is asked without a form of the site's own.
var plain = DetailsForm{Elements: form.Details()}

// Forms are the published forms that ask for an address, by id.
type Forms map[int64]DetailsForm

const selectForms = `select id, elements from form where status = 'publish' and not trashed
	and id in (select form_id from service where not archived union select form_id from settings)`

// QueueOffer reads, with a batch, the services that visitors can book, in their order, and the forms that these ask.
func QueueOffer(b *pgx.Batch, services *[]BookableService, asked *Forms) {
	b.Queue(selectServices + `where bookable_online and not archived order by sort_order, lower(name), id`).Query(func(rows pgx.Rows) (err error) {
		*services, err = collectServices(rows)
		return err
	})
	b.Queue(selectForms).Query(func(rows pgx.Rows) (err error) {
		*asked, err = collectForms(rows)
		return err
	})
}

func collectForms(rows pgx.Rows) (Forms, error) {
	all := Forms{}
	var id int64
	var raw []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
		f := DetailsForm{ID: id}
		if err := json.Unmarshal(raw, &f.Elements); err != nil {
			return fmt.Errorf("elements of form %d: %w", id, err)
		}
		if form.NeedsEmail(f.Elements) {
			all[id] = f
		}
		return nil
	})
	return all, err
}

// Of is the service's own form or the site's; else plain and false. Who is called has to give the number.
func (f Forms) Of(s BookableService, settings Settings) (asks DetailsForm, own bool) {
	asks = plain
	for _, id := range []*int64{settings.FormID, s.FormID} {
		if id != nil {
			if found, ok := f[*id]; ok {
				asks, own = found, true
			}
		}
	}
	if s.LocationType == "phone" {
		asks.Elements, _ = form.Called(asks.Elements)
	}
	return asks, own
}

// checkForm refuses a form that does not exist or does not ask for an address.
func (r *Room) checkForm(ctx context.Context, tx *db.Tx, id opt.Value[int64]) error {
	if !id.Given() {
		return nil
	}
	var elements []form.Element
	err := tx.QueryRow(ctx, `select elements from form where id = $1 and not trashed`, id.V).Scan(&elements)
	if errors.Is(err, pgx.ErrNoRows) {
		return tx.Arriving("form")
	}
	if err != nil {
		return fmt.Errorf("read form %d: %w", id.V, err)
	}
	if !form.NeedsEmail(elements) {
		return fault.Invalid("form_id", fault.NewProblem("needs_email", "must be a form with a required email field"))
	}
	return nil
}

// Details are the checked answers of the details step.
type Details struct {
	Client  clients.Client
	Answers form.Answers
	Raw     []byte // as sent, for forms
}

// maxDetails is how many bytes of answers forms takes as one submission.
const maxDetails = 128 << 10

// ReadDetails checks the answers to f, named by element id or target. Everything that is wrong is named by its key in one
// svc_invalid_param. Answers of more than maxDetails are svc_too_large: they could not be kept.
func ReadDetails(f DetailsForm, fields form.Fields, values map[string]any) (Details, error) {
	a, err := form.Check(form.Ask(f.Elements, fields), values)
	if err != nil {
		return Details{}, err
	}
	out := Details{Client: clients.Client{FirstName: a.Contact.FirstName, LastName: a.Contact.LastName, Email: a.Contact.Email, Phone: a.Contact.Phone},
		Answers: a}
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // which would make one byte six
	if err := e.Encode(values); err != nil {
		return out, err
	}
	if out.Raw = raw.Bytes(); len(out.Raw) > maxDetails {
		return out, fault.TooLarge(maxDetails)
	}
	return out, nil
}

// newFieldTable makes the copy of the custom fields, which say what the details step asks.
func newFieldTable(b *bus.Bus) *bus.Table[form.Field] {
	return bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (form.Field, int64, error) {
		var f struct {
			Entity, Key, Label, Type string
			Options                  []string
			Archived                 bool
		}
		env, err := bus.OpenEnvelope(value, &f)
		return form.Field(f), env.GetVersion(), err
	})
}

// CustomFields gives all fields, archived ones too, by the targets that name them.
func (r *Room) CustomFields() form.Fields {
	return form.FieldsOf(slices.Collect(maps.Values(r.fields.All()))...)
}
