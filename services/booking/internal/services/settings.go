package services

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// Settings of online booking.
type Settings struct {
	SlotStep            int        `json:"slot_step" doc:"Minutes between the begins of free times; 0 for the length of the service."`
	MinNoticeMin        int        `json:"min_notice_min" doc:"How many minutes ahead visitors have to book."`
	MaxAdvanceDays      int        `json:"max_advance_days" doc:"How many days ahead visitors can book."`
	CancelNoticeHours   int        `json:"cancel_notice_hours" doc:"Until how many hours before the begin visitors can cancel or move."`
	LateCancelText      string     `json:"late_cancel_text" doc:"What visitors read who want to cancel or move too late."`
	ReminderEnabled     bool       `json:"reminder_enabled" doc:"Clients get a mail before their appointment."`
	ReminderHours       int        `json:"reminder_hours" doc:"How many hours before the begin the first reminder goes out."`
	Reminders           []Reminder `json:"reminders" doc:"When reminders go out, most hours first."`
	TermsText           string     `json:"terms_text" doc:"Words that visitors read before they book."`
	DefaultConfirmation string     `json:"default_confirmation" doc:"For services that say nothing about it: auto books at once, review waits for somebody to confirm."`
	ClientChanges       bool       `json:"client_changes" doc:"Visitors can move and cancel their appointments by the link of a mail."`
	MaxOpenBookings     int        `json:"max_open_bookings" doc:"How many coming bookings one address can make online; 0 for any number."`
	FormID              *int64     `json:"form_id" doc:"The form of services that name none; null for none."`
	RequestExpiresHours int        `json:"request_expires_hours" doc:"Hours after which a request that nobody answered is declined; 0 for never."`
	NotifyEmails        []string   `json:"notify_emails" doc:"Addresses that are mailed of every booking, request, move and cancellation, besides the person."`

	Version int64 `json:"-"`
}

// Reminder is one of the mails before an appointment.
type Reminder struct {
	Hours int `json:"hours" required:"true" minimum:"1" maximum:"168" doc:"How many hours before the begin it goes out."`
}

// RecordVersion is the answer's ETag.
func (s Settings) RecordVersion() int64 { return s.Version }

const selectSettings = `select slot_step, min_notice_min, max_advance_days, cancel_notice_hours, late_cancel_text, reminder_enabled,
	(select max(h) from unnest(array[reminder_hours] || later_reminders) h) as reminder_hours,
	(select jsonb_agg(jsonb_build_object('hours', h) order by h desc) from (select distinct unnest(array[reminder_hours] || later_reminders) h) x) as reminders,
	terms_text, default_confirmation, client_changes, max_open_bookings, form_id, request_expires_hours, notify_emails, version from settings`

func getSettings(ctx context.Context, tx *db.Tx, _ op.None) (Settings, error) {
	return ReadSettings(ctx, tx)
}

// ReadSettings reads the settings.
func ReadSettings(ctx context.Context, tx *db.Tx) (Settings, error) {
	return db.One[Settings](ctx, tx, selectSettings)
}

// QueueSettings reads the settings with a batch.
func QueueSettings(b *pgx.Batch, to *Settings) {
	b.Queue(selectSettings).Query(func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Settings])
		return err
	})
}

func lockSettings(ctx context.Context, tx *db.Tx) (Settings, error) {
	return db.One[Settings](ctx, tx, selectSettings+` for update`)
}

type changedSettings struct {
	SlotStep            opt.Value[int]    `json:"slot_step,omitzero" minimum:"0" maximum:"240" doc:"Minutes between the begins of free times; 0 for the length of the service."`
	MinNoticeMin        opt.Value[int]    `json:"min_notice_min,omitzero" minimum:"0" maximum:"43200" doc:"How many minutes ahead visitors have to book."`
	MaxAdvanceDays      opt.Value[int]    `json:"max_advance_days,omitzero" minimum:"1" maximum:"730" doc:"How many days ahead visitors can book."`
	CancelNoticeHours   opt.Value[int]    `json:"cancel_notice_hours,omitzero" minimum:"0" maximum:"720" doc:"Until how many hours before the begin visitors can cancel or move."`
	LateCancelText      opt.Value[string] `json:"late_cancel_text,omitzero" nullable:"true" maxLength:"1000" doc:"What visitors read who want to cancel or move too late."`
	ReminderEnabled     opt.Value[bool]   `json:"reminder_enabled,omitzero" doc:"Clients get a mail before their appointment."`
	ReminderHours       opt.Value[int]    `json:"reminder_hours,omitzero" minimum:"1" maximum:"168" doc:"How many hours before the begin the first reminder goes out: it takes the place of the first of reminders."`
	Reminders           []Reminder        `json:"reminders" maxItems:"3" doc:"When reminders go out, one to three; all in place of those of before."`
	TermsText           opt.Value[string] `json:"terms_text,omitzero" nullable:"true" maxLength:"1000" doc:"Words that visitors read before they book."`
	DefaultConfirmation opt.Value[string] `json:"default_confirmation,omitzero" enum:"auto,review" doc:"For services that say nothing about it: auto books at once, review waits for somebody to confirm."`
	ClientChanges       opt.Value[bool]   `json:"client_changes,omitzero" doc:"Visitors can move and cancel their appointments by the link of a mail."`
	MaxOpenBookings     opt.Value[int]    `json:"max_open_bookings,omitzero" minimum:"0" maximum:"50" doc:"How many coming bookings one address can make online; 0 for any number."`
	FormID              opt.Value[int64]  `json:"form_id,omitzero" nullable:"true" minimum:"1" doc:"The form of services that name none; null for none."`
	NotifyEmails        []string          `json:"notify_emails" maxItems:"20" doc:"All of them: the API may keep or remove addresses, a person in the app may add some."`
	RequestExpiresHours opt.Value[int]    `json:"request_expires_hours,omitzero" minimum:"0" maximum:"720" doc:"0 keeps requests until somebody answers them; the hours of those that wait begin when it is set."`
}

func (r *Room) updateSettings(ctx context.Context, tx *db.Tx, in changedSettings) (Settings, error) {
	if in.SlotStep.V > 0 && in.SlotStep.V < 5 {
		return Settings{}, fault.Invalid("slot_step", fault.NewProblem("too_low", "must be 0 or at least 5", "min", 5))
	}
	if err := r.checkForm(ctx, tx, in.FormID); err != nil {
		return Settings{}, err
	}
	v, err := lockSettings(ctx, tx)
	if err != nil {
		return v, err
	}
	if err := tx.Match(v.Version); err != nil {
		return v, err
	}
	was := v
	if in.NotifyEmails != nil {
		found := fault.Problems{}
		v.NotifyEmails = form.Addressees(in.NotifyEmails, v.NotifyEmails, tx.Who.Session, func(at string, p fault.Problem) { found.Add("notify_emails"+at, p) })
		if err := found.Err(); err != nil {
			return v, err
		}
	}
	in.SlotStep.Apply(&v.SlotStep)
	in.MinNoticeMin.Apply(&v.MinNoticeMin)
	in.MaxAdvanceDays.Apply(&v.MaxAdvanceDays)
	in.CancelNoticeHours.Apply(&v.CancelNoticeHours)
	in.LateCancelText.Apply(&v.LateCancelText)
	in.ReminderEnabled.Apply(&v.ReminderEnabled)
	if err := v.remind(in); err != nil {
		return v, err
	}
	in.TermsText.Apply(&v.TermsText)
	in.DefaultConfirmation.Apply(&v.DefaultConfirmation)
	in.ClientChanges.Apply(&v.ClientChanges)
	in.MaxOpenBookings.Apply(&v.MaxOpenBookings)
	in.FormID.ApplyPtr(&v.FormID)
	in.RequestExpiresHours.Apply(&v.RequestExpiresHours)
	v.LateCancelText, v.TermsText = strings.TrimSpace(v.LateCancelText), strings.TrimSpace(v.TermsText)
	if err := tx.ChangedFrom(was, v); err != nil {
		return v, err
	}
	err = tx.QueryRow(ctx, `update settings set slot_step = @slot_step, min_notice_min = @min_notice_min, max_advance_days = @max_advance_days,
		cancel_notice_hours = @cancel_notice_hours, late_cancel_text = @late_cancel_text, reminder_enabled = @reminder_enabled,
		reminder_hours = @reminder_hours, later_reminders = @later_reminders, terms_text = @terms_text, default_confirmation = @default_confirmation,
		client_changes = @client_changes, max_open_bookings = @max_open_bookings, form_id = @form_id, notify_emails = @notify_emails,
		expires_since = case when request_expires_hours <> @request_expires_hours then @now else expires_since end,
		request_expires_hours = @request_expires_hours, version = version + 1
		returning version`, db.Args{
		"slot_step": v.SlotStep, "min_notice_min": v.MinNoticeMin, "max_advance_days": v.MaxAdvanceDays, "cancel_notice_hours": v.CancelNoticeHours,
		"late_cancel_text": v.LateCancelText, "reminder_enabled": v.ReminderEnabled, "reminder_hours": v.ReminderHours, "later_reminders": v.laterReminders(), "terms_text": v.TermsText,
		"default_confirmation": v.DefaultConfirmation, "client_changes": v.ClientChanges, "max_open_bookings": v.MaxOpenBookings, "form_id": v.FormID,
		"request_expires_hours": v.RequestExpiresHours, "notify_emails": v.NotifyEmails, "now": tx.Now,
	}).Scan(&v.Version)
	if err != nil {
		return v, err
	}
	return v, emitSettings(ctx, tx, v)
}

// remind takes what in says of reminders. The error is svc_invalid_param for none or two at the same time.
func (s *Settings) remind(in changedSettings) error {
	name := "reminders"
	if in.Reminders != nil {
		s.Reminders = in.Reminders
	}
	if len(s.Reminders) == 0 {
		return fault.Invalid(name, fault.TooFew(1))
	}
	s.Reminders = slices.Clone(s.Reminders)
	mostFirst := func(a, b Reminder) int { return b.Hours - a.Hours }
	slices.SortFunc(s.Reminders, mostFirst)
	if in.ReminderHours.Set {
		name, s.Reminders[0].Hours = "reminder_hours", in.ReminderHours.V
		slices.SortFunc(s.Reminders, mostFirst)
	}
	s.ReminderHours = s.Reminders[0].Hours
	if len(slices.Compact(slices.Clone(s.Reminders))) < len(s.Reminders) {
		return fault.Invalid(name, fault.Twice())
	}
	return nil
}

func (s Settings) laterReminders() []int {
	later := []int{}
	for _, r := range s.Reminders[1:] {
		later = append(later, r.Hours)
	}
	return later
}

// settingsKey is the key of the settings on the topic of the services.
const settingsKey = "booking-settings"

func emitSettings(ctx context.Context, tx *db.Tx, v Settings) error {
	return tx.Emit(ctx, db.Event{Topic: proto.ServiceTopic, Kind: proto.KindBookingSettingsUpdated, Key: settingsKey, Version: v.Version, Data: v})
}

func publishSettings(ctx context.Context, tx *db.Tx) error {
	v, err := lockSettings(ctx, tx)
	if err != nil {
		return err
	}
	return emitSettings(ctx, tx, v)
}

// raiseSettings gives the settings the version after version if they are older.
func raiseSettings(ctx context.Context, tx *db.Tx, version int64) (int, error) {
	tag, err := tx.Exec(ctx, `update settings set version = $1 + 1 where version < $1`, version)
	return int(tag.RowsAffected()), err
}

// General is what booking reads of the site's general settings.
type General struct {
	Business struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"business"`
	Currency string `json:"currency"`
	Country  string `json:"country"`
	MailFrom string `json:"mail_from"`
}

// General is what the site says of itself now.
func (r *Room) General() General {
	var site General
	r.Site.Read("general", &site)
	if site.Business.Name == "" {
		site.Business.Name = "Frontdesk"
	}
	// A version of settings before 1.1 does not publish the sender.
	site.MailFrom = cmp.Or(site.MailFrom, "frontdesk@localhost")
	return site
}
