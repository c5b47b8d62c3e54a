package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.AuditTopic, Handle: s.onAudit},
		{Topic: proto.MailTopic, Handle: s.onMail},
		{Topic: proto.SettingsCommandTopic, Handle: s.onCommand},
		{Topic: proto.StaffTopic, Handle: onStaff},
	}
}

// onAudit stores an entry that some service wrote in the transaction of its change.
func (s *service) onAudit(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindAudit {
		return nil
	}
	var a proto.Audit
	if err := e.Decode(&a); err != nil {
		return err
	}
	return s.insertAuditEntry(ctx, tx, e, &a)
}

// onMail puts a mail into the queue, once per id.
func (s *service) onMail(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindMail {
		return nil
	}
	var m proto.Mail
	if err := e.Decode(&m); err != nil {
		return err
	}
	return s.enqueueMail(ctx, tx, e, &m)
}

func (s *service) onCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	switch e.Kind {
	case proto.KindEmbedInPage:
		var in proto.EmbedInPage
		if err := e.Decode(&in); err != nil {
			return err
		}
		return s.embedInPage(ctx, tx, &in)
	case proto.KindSessionSeen:
		var in proto.SessionSeen
		if err := e.Decode(&in); err != nil {
			return err
		}
		return keepSession(ctx, tx, in.GetHash(), e.At)
	case proto.KindKeySeen:
		var in proto.KeySeen
		if err := e.Decode(&in); err != nil {
			return err
		}
		return keepKey(ctx, tx, in.GetId(), in.GetAddress(), e.At)
	}
	return nil
}

// onStaff takes the role of a person whom booking has removed from the team: booking decides, because only booking can
// refuse a successor. History says so of people who were taken back since, too: it counts for those who have not changed.
func onStaff(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindStaffRemoved || e.State {
		return nil
	}
	userID, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return fmt.Errorf("id of the person who left: %w", err)
	}
	if _, err := lockRoles(ctx, tx); err != nil {
		return err
	}
	p, err := lockPerson(ctx, tx, userID)
	if err != nil {
		return unlessRefused(err)
	}
	if e.History && p.UpdatedAt.After(e.At) {
		return nil
	}
	// Booking's copy of the roles may be old: a site keeps its last administrator all the same.
	if err := keepsAdministrator(ctx, tx, p, nil); err != nil {
		return unlessRefused(err)
	}
	rest := slices.DeleteFunc(slices.Clone(p.Roles), func(r string) bool { return slices.Contains(serviceRoles, r) })
	if len(rest) == 0 {
		return removePerson(ctx, tx, p)
	}
	if err := endSessions(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	_, err = setRoles(ctx, tx, p, rest)
	return err
}

// unlessRefused is nil for a fault, which another attempt would meet again, and err for everything else.
func unlessRefused(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}
