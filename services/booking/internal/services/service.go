package services

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/staff"
)

// BookableService is what clients can book.
type BookableService struct {
	ID              uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	Name            string    `json:"name" doc:"What visitors read."`
	Description     string    `json:"description" doc:"What visitors read about it."`
	DurationMin     int       `json:"duration_min" doc:"How long it takes, in minutes."`
	BufferBefore    int       `json:"buffer_before" doc:"Minutes kept free before it."`
	BufferAfter     int       `json:"buffer_after" doc:"Minutes kept free after it."`
	Price           *string   `json:"price" doc:"Decimal text, for display only."`
	LocationType    string    `json:"location_type" doc:"Where it takes place."`
	LocationDetails string    `json:"location_details" doc:"The address or other words about the place."`
	MailText        string    `json:"mail_text" doc:"What clients read in the confirmation and in reminders, such as what to bring."`
	Confirmation    string    `json:"confirmation" doc:"auto books at once, review waits for somebody to confirm."`
	BookableOnline  bool      `json:"bookable_online" doc:"Visitors can book it."`
	MinNoticeMin    *int      `json:"min_notice_min" doc:"How many minutes ahead visitors have to book; null for the setting of the site."`
	MaxAdvanceDays  *int      `json:"max_advance_days" doc:"How many days ahead visitors can book; null for the setting of the site."`
	FormID          *int64    `json:"form_id" doc:"The form of which visitors answer the questions; null for none."`
	SortOrder       int       `json:"sort_order" doc:"The place in lists, the lowest first."`
	Staff           []int64   `json:"staff" doc:"The user ids of the people who offer it."`
	Archived        bool      `json:"archived" doc:"It is kept and no longer offered."`
	CreatedAt       time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt       time.Time `json:"updated_at" doc:"When it last changed."`

	version int64
	placed  int64 // how often it got another place in lists
}

// RecordVersion is the answer's ETag.
func (s BookableService) RecordVersion() int64 { return s.version }

const selectServices = `select id, name, description, duration_min, buffer_before, buffer_after, price, location_type, location_details,
	mail_text, confirmation, bookable_online, min_notice_min, max_advance_days, form_id, sort_order,
	array(select user_id from skill where service_id = service.id order by user_id) as staff, archived, created_at, updated_at, version, placed from service `

func queryServices(ctx context.Context, tx *db.Tx, where string, args ...any) ([]BookableService, error) {
	rows, err := tx.Query(ctx, selectServices+where, args...)
	if err != nil {
		return nil, err
	}
	return collectServices(rows)
}

func collectServices(rows pgx.Rows) ([]BookableService, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (BookableService, error) {
		read, err := pgx.RowToStructByName[struct {
			BookableService
			Version, Placed int64
		}](row)
		read.version, read.placed = read.Version, read.Placed
		return read.BookableService, err
	})
}

// Get reads a service, archived or not. The error is svc_not_found for none.
func Get(ctx context.Context, tx *db.Tx, in op.ByID) (BookableService, error) {
	found, err := queryServices(ctx, tx, `where id = $1`, in.ID)
	if err == nil && len(found) == 0 {
		err = fault.NotFound("service")
	}
	if err != nil {
		return BookableService{}, err
	}
	return found[0], nil
}

func lockService(ctx context.Context, tx *db.Tx, id uuid.UUID) (BookableService, error) {
	if _, err := tx.Exec(ctx, `select from service where id = $1 for no key update`, id); err != nil {
		return BookableService{}, err
	}
	return Get(ctx, tx, op.ByID{ID: id})
}

type findServices struct {
	IncludeArchived bool `json:"include_archived,omitempty"`
}

// listBookableService, named as its schema, is a list of services.
type listBookableService struct {
	db.List[BookableService]
	version int64
}

// RecordVersion is the answer's ETag: the version of the order of all services, which grows with each that gets another place.
func (l listBookableService) RecordVersion() int64 { return l.version }

// listed lists all services, or those that are not archived.
func listed(all []BookableService, archived bool) listBookableService {
	version := orderVersion(all)
	return listBookableService{db.All(slices.DeleteFunc(all, func(s BookableService) bool { return s.Archived && !archived })), version}
}

func orderVersion(all []BookableService) (sum int64) {
	for _, s := range all {
		sum += s.placed
	}
	return sum
}

func listServices(ctx context.Context, tx *db.Tx, in findServices) (listBookableService, error) {
	all, err := queryServices(ctx, tx, `order by sort_order, lower(name), id`)
	return listed(all, in.IncludeArchived), err
}

// orderKey is the order as a record, as order-services keeps it: its kind and its path.
const orderKey = "service/services/order"

type orderedServices struct {
	Services []uuid.UUID `json:"services" required:"true" minItems:"1" maxItems:"1000" doc:"Ids of services, the first one first."`
}

// orderServices puts services before all others, in the order given; the others keep theirs. Whose place in lists stays the same is not changed.
func orderServices(ctx context.Context, tx *db.Tx, in orderedServices) (listBookableService, error) {
	if _, err := tx.Exec(ctx, `select from service order by id for no key update`); err != nil {
		return listBookableService{}, err
	}
	all, err := queryServices(ctx, tx, `order by sort_order, lower(name), id`)
	if err != nil {
		return listBookableService{}, err
	}
	if err := tx.Match(orderVersion(all)); err != nil {
		return listBookableService{}, err
	}
	before := idsOf(all)
	places := map[uuid.UUID]int{}
	for i, id := range in.Services {
		if !slices.ContainsFunc(all, func(s BookableService) bool { return s.ID == id }) {
			return listBookableService{}, fault.NotFound("service")
		}
		places[id] = i
	}
	placeOf := func(s BookableService) int {
		if place, named := places[s.ID]; named {
			return place
		}
		return len(in.Services)
	}
	slices.SortStableFunc(all, func(a, b BookableService) int { return placeOf(a) - placeOf(b) })
	if !slices.Equal(before, idsOf(all)) {
		tx.TakeBack("order-services", map[string]any{"services": before})
	}
	for i, s := range all {
		if s.SortOrder == i+1 {
			continue
		}
		s.SortOrder = i + 1
		s.placed++
		if all[i], err = saveService(ctx, tx, s, proto.KindServiceUpdated); err != nil {
			return listBookableService{}, err
		}
	}
	return listed(all, false), nil
}

func idsOf(all []BookableService) []uuid.UUID {
	ids := make([]uuid.UUID, len(all))
	for i, s := range all {
		ids[i] = s.ID
	}
	return ids
}

type serviceFields struct {
	Name            opt.Value[string] `json:"name,omitzero" maxLength:"190" doc:"What visitors read."`
	Description     opt.Value[string] `json:"description,omitzero" nullable:"true" maxLength:"2000" doc:"What visitors read about it."`
	DurationMin     opt.Value[int]    `json:"duration_min,omitzero" minimum:"1" maximum:"1440" doc:"How long it takes, in minutes."`
	BufferBefore    opt.Value[int]    `json:"buffer_before,omitzero" minimum:"0" maximum:"1440" doc:"Minutes kept free before it."`
	BufferAfter     opt.Value[int]    `json:"buffer_after,omitzero" minimum:"0" maximum:"1440" doc:"Minutes kept free after it."`
	Price           opt.Value[string] `json:"price,omitzero" nullable:"true" maxLength:"20" doc:"Decimal text such as 45 or 45.50; null or empty for none."`
	LocationType    opt.Value[string] `json:"location_type,omitzero" enum:"in_person,client,phone,online" doc:"Where it takes place."`
	LocationDetails opt.Value[string] `json:"location_details,omitzero" nullable:"true" maxLength:"255" doc:"The address or other words about the place."`
	MailText        opt.Value[string] `json:"mail_text,omitzero" nullable:"true" maxLength:"2000" doc:"What clients read in the confirmation and in reminders, such as what to bring: plain text, an empty line begins a paragraph."`
	Confirmation    opt.Value[string] `json:"confirmation,omitzero" enum:"auto,review" doc:"auto books at once, review waits for somebody to confirm."`
	BookableOnline  opt.Value[bool]   `json:"bookable_online,omitzero" doc:"Visitors can book it."`
	MinNoticeMin    opt.Value[int]    `json:"min_notice_min,omitzero" nullable:"true" minimum:"0" maximum:"43200" doc:"Null for the site's own."`
	MaxAdvanceDays  opt.Value[int]    `json:"max_advance_days,omitzero" nullable:"true" minimum:"1" maximum:"730" doc:"Null for the site's own."`
	FormID          opt.Value[int64]  `json:"form_id,omitzero" nullable:"true" minimum:"1" doc:"Form of the details step; null for the site's own."`
	SortOrder       opt.Value[int]    `json:"sort_order,omitzero" minimum:"-1000000" maximum:"1000000" doc:"The place in lists, the lowest first."`
	Staff           []int64           `json:"staff" maxItems:"500" doc:"User ids of the staff members who do the service."`
}

type newService struct{ serviceFields }

type changedService struct {
	ID uuid.UUID `json:"id"`
	serviceFields
	Archived opt.Value[bool] `json:"archived,omitzero" doc:"true takes it out of what can be booked."`
}

var price = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,2})?$`)

func (in serviceFields) check() fault.Problems {
	found := fault.Problems{}
	if in.Name.Given() {
		found.Add("name", form.Name(in.Name.V, 190))
	}
	if in.Price.Or("") != "" && !price.MatchString(in.Price.V) {
		found.Add("price", fault.Format("price", "a decimal number", "45 or 45.50"))
	}
	return found
}

func (in serviceFields) apply(s *BookableService) {
	in.Name.Apply(&s.Name)
	in.Description.Apply(&s.Description)
	in.DurationMin.Apply(&s.DurationMin)
	in.BufferBefore.Apply(&s.BufferBefore)
	in.BufferAfter.Apply(&s.BufferAfter)
	in.Price.ApplyPtr(&s.Price)
	if s.Price != nil && *s.Price == "" {
		s.Price = nil
	}
	in.LocationType.Apply(&s.LocationType)
	in.LocationDetails.Apply(&s.LocationDetails)
	in.MailText.Apply(&s.MailText)
	in.Confirmation.Apply(&s.Confirmation)
	in.BookableOnline.Apply(&s.BookableOnline)
	in.MinNoticeMin.ApplyPtr(&s.MinNoticeMin)
	in.MaxAdvanceDays.ApplyPtr(&s.MaxAdvanceDays)
	in.FormID.ApplyPtr(&s.FormID)
	in.SortOrder.Apply(&s.SortOrder)
	s.Name, s.MailText = strings.TrimSpace(s.Name), strings.TrimSpace(s.MailText)
	if in.Staff != nil {
		s.Staff = append([]int64{}, slices.Compact(slices.Sorted(slices.Values(in.Staff)))...) // an empty list is no null
	}
}

func (r *Room) createService(ctx context.Context, tx *db.Tx, in newService) (BookableService, error) {
	found := in.check()
	if !in.Name.Set {
		found.Add("name", fault.Required())
	}
	if !in.DurationMin.Set {
		found.Add("duration_min", fault.Required())
	}
	if err := found.Err(); err != nil {
		return BookableService{}, err
	}
	settings, err := ReadSettings(ctx, tx)
	if err != nil {
		return BookableService{}, err
	}
	bookable := BookableService{ID: db.NewID(), LocationType: "in_person", Confirmation: settings.DefaultConfirmation, BookableOnline: true,
		Staff: []int64{}, CreatedAt: tx.Now, UpdatedAt: tx.Now, version: 1}
	in.apply(&bookable)
	if err := r.checkService(ctx, tx, in.serviceFields); err != nil {
		return bookable, err
	}
	_, err = tx.Exec(ctx, `insert into service (id, name, description, duration_min, buffer_before, buffer_after, price, location_type, location_details,
		mail_text, confirmation, bookable_online, min_notice_min, max_advance_days, form_id, sort_order, created_at, updated_at)
		values (@id, @name, @description, @duration_min, @buffer_before, @buffer_after, @price, @location_type, @location_details,
		@mail_text, @confirmation, @bookable_online, @min_notice_min, @max_advance_days, @form_id, @sort_order, @updated_at, @updated_at)`, bookable.columns())
	if err != nil {
		return bookable, err
	}
	if err := staff.SetSkills(ctx, tx, bookable.ID, bookable.Staff); err != nil {
		return bookable, err
	}
	if err := emitService(ctx, tx, bookable, proto.KindServiceCreated); err != nil {
		return bookable, err
	}
	return bookable, r.staff.PublishSkills(ctx, tx, bookable.Staff)
}

// checkService checks what a service names beside itself: staff and form.
func (r *Room) checkService(ctx context.Context, tx *db.Tx, in serviceFields) error {
	for _, user := range in.Staff {
		present, err := staff.Present(ctx, tx, r.Identity, user)
		if err != nil {
			return err
		}
		if !present {
			return fault.Invalid("staff", fault.NewProblem("not_on_team", fmt.Sprintf("names the user %d, who is not on the team", user), "user_id", user))
		}
	}
	return r.checkForm(ctx, tx, in.FormID)
}

func (r *Room) updateService(ctx context.Context, tx *db.Tx, in changedService) (BookableService, error) {
	if err := in.check().Err(); err != nil {
		return BookableService{}, err
	}
	if _, err := Get(ctx, tx, op.ByID{ID: in.ID}); err != nil {
		return BookableService{}, err
	}
	if err := r.checkService(ctx, tx, in.serviceFields); err != nil {
		return BookableService{}, err
	}
	bookable, err := lockService(ctx, tx, in.ID)
	if err != nil {
		return bookable, err
	}
	if err := tx.Match(bookable.version); err != nil {
		return bookable, err
	}
	was := bookable
	in.apply(&bookable)
	in.Archived.Apply(&bookable.Archived)
	if !slices.Equal(was.Staff, bookable.Staff) {
		if err := staff.SetSkills(ctx, tx, bookable.ID, bookable.Staff); err != nil {
			return bookable, err
		}
	}
	if err := tx.ChangedFrom(was, bookable); err != nil {
		return bookable, err
	}
	kind := proto.KindServiceUpdated
	if bookable.Archived && !was.Archived {
		kind = proto.KindServiceArchived
	}
	return r.change(ctx, tx, was, bookable, kind)
}

func (r *Room) archiveService(ctx context.Context, tx *db.Tx, in op.ByID) (BookableService, error) {
	s, err := lockService(ctx, tx, in.ID)
	if err != nil {
		return s, err
	}
	if err := tx.Match(s.version); err != nil || s.Archived {
		return s, err
	}
	was := s
	s.Archived = true
	return r.change(ctx, tx, was, s, proto.KindServiceArchived)
}

// change saves a locked service, and publishes the members who begin or cease to do it.
func (r *Room) change(ctx context.Context, tx *db.Tx, was, now BookableService, kind string) (BookableService, error) {
	now, err := saveService(ctx, tx, now, kind)
	if err != nil {
		return now, err
	}
	if was.SortOrder != now.SortOrder {
		var order int64
		if err := tx.QueryRow(ctx, `select sum(placed)::bigint from service`).Scan(&order); err != nil {
			return now, err
		}
		tx.Touch(orderKey, db.Versions{Was: order - 1, Became: order})
	}
	before, after := was.doneBy(), now.doneBy()
	others := slices.DeleteFunc(slices.Concat(before, after), func(user int64) bool { return slices.Contains(before, user) && slices.Contains(after, user) })
	return now, r.staff.PublishSkills(ctx, tx, others)
}

// doneBy are the people of whom it is a service: of nobody once it is archived.
func (s BookableService) doneBy() []int64 {
	if s.Archived {
		return nil
	}
	return s.Staff
}

// columns are the values of the table's columns by name.
func (s BookableService) columns() db.Args {
	return db.Args{"id": s.ID, "name": s.Name, "description": s.Description, "duration_min": s.DurationMin, "buffer_before": s.BufferBefore,
		"buffer_after": s.BufferAfter, "price": s.Price, "location_type": s.LocationType, "location_details": s.LocationDetails, "mail_text": s.MailText,
		"confirmation": s.Confirmation, "bookable_online": s.BookableOnline, "min_notice_min": s.MinNoticeMin, "max_advance_days": s.MaxAdvanceDays,
		"form_id": s.FormID, "sort_order": s.SortOrder, "archived": s.Archived, "updated_at": s.UpdatedAt, "version": s.version}
}

// saveService writes a locked service under its next version and publishes it.
func saveService(ctx context.Context, tx *db.Tx, s BookableService, kind string) (BookableService, error) {
	s.UpdatedAt = tx.Now
	s.version++
	_, err := tx.Exec(ctx, `update service set name = @name, description = @description, duration_min = @duration_min, buffer_before = @buffer_before,
		buffer_after = @buffer_after, price = @price, location_type = @location_type, location_details = @location_details,
		mail_text = @mail_text, confirmation = @confirmation, bookable_online = @bookable_online, min_notice_min = @min_notice_min, max_advance_days = @max_advance_days,
		form_id = @form_id, placed = placed + (sort_order <> @sort_order)::int, sort_order = @sort_order, archived = @archived, updated_at = @updated_at, version = @version where id = @id`, s.columns())
	if err != nil {
		return s, err
	}
	return s, emitService(ctx, tx, s, kind)
}

func emitService(ctx context.Context, tx *db.Tx, s BookableService, kind string) error {
	return tx.Emit(ctx, db.Event{Topic: proto.ServiceTopic, Kind: kind, Key: s.ID.String(), Version: s.version, Data: s})
}

func publishServices(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	found, err := queryServices(ctx, tx, `where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	for _, v := range found {
		kind := proto.KindServiceUpdated
		if v.Archived {
			kind = proto.KindServiceArchived
		}
		if err := emitService(ctx, tx, v, kind); err != nil {
			return err
		}
	}
	return nil
}

// Terms are the settings of a service that an appointment keeps from when it was booked.
type Terms struct {
	Name            string  `json:"name"`
	DurationMin     int     `json:"duration_min"`
	BufferBefore    int     `json:"buffer_before"`
	BufferAfter     int     `json:"buffer_after"`
	Price           *string `json:"price"`
	LocationType    string  `json:"location_type"`
	LocationDetails string  `json:"location_details"`
	Confirmation    string  `json:"confirmation"`
	MinNoticeMin    *int    `json:"min_notice_min"`
	MaxAdvanceDays  *int    `json:"max_advance_days"`
	MailText        string  `json:"mail_text,omitempty"`
}

// Terms are the terms on which the service is booked now.
func (s BookableService) Terms() Terms {
	return Terms{s.Name, s.DurationMin, s.BufferBefore, s.BufferAfter, s.Price, s.LocationType, s.LocationDetails, s.Confirmation, s.MinNoticeMin, s.MaxAdvanceDays, s.MailText}
}

// Replace makes a person do these services and no other active ones.
func Replace(ctx context.Context, tx *db.Tx, user int64, before, after []uuid.UUID) (changed bool, err error) {
	byBytes := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	all := slices.Concat(before, after)
	slices.SortFunc(all, byBytes)
	if err := staff.Ensure(ctx, tx, user); err != nil {
		return false, err
	}
	for _, id := range slices.Compact(all) {
		s, err := lockService(ctx, tx, id)
		if err != nil {
			return false, err
		}
		does, shall := slices.Contains(s.Staff, user), slices.Contains(after, id)
		switch {
		case does == shall:
			continue
		case shall:
			s.Staff = append(s.Staff, user)
			slices.Sort(s.Staff)
		default:
			s.Staff = slices.DeleteFunc(s.Staff, func(u int64) bool { return u == user })
		}
		changed = true
		if err := staff.SetSkills(ctx, tx, id, s.Staff); err != nil {
			return false, err
		}
		if _, err := saveService(ctx, tx, s, proto.KindServiceUpdated); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// Drop makes a person do no service at all, archived ones included.
func Drop(ctx context.Context, tx *db.Tx, user int64) error {
	ids, err := db.Column[uuid.UUID](ctx, tx, `select service_id from skill where user_id = $1`, user)
	if err != nil {
		return err
	}
	_, err = Replace(ctx, tx, user, ids, nil)
	return err
}
