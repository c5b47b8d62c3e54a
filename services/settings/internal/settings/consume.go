package settings

import (
	"context"
	"slices"
	"strconv"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.AuditTopic, Handle: s.takeAudit},
		{Topic: proto.MailTopic, Handle: s.takeMail},
		{Topic: proto.SettingsCommandTopic, Handle: s.takeCommand},
		{Topic: proto.StaffTopic, Handle: takeStaff},
	}
}

func (s *service) takeCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
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
		return sessionSeen(ctx, tx, in.GetHash(), e.At)
	}
	return nil
}

// sessionSeen keeps a session that is in use from ending as an idle one.
func sessionSeen(ctx context.Context, tx *db.Tx, hash []byte, at time.Time) error {
	x, err := oneSession(ctx, tx, `update session set seen_at = $2 where hash = $1 and seen_at < $2 returning `+sessionColumns, hash, at)
	if err != nil {
		return dropRefused(err)
	}
	return publishSession(ctx, tx, x)
}

// takeStaff takes the role of a person whom booking has removed from the team: booking decides, because
// it is there that a successor can be refused.
func takeStaff(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindStaffRemoved {
		return nil
	}
	userID, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if _, err := lockRoles(ctx, tx); err != nil {
		return err
	}
	p, err := lockPerson(ctx, tx, userID)
	if err != nil {
		return dropRefused(err)
	}
	// Whatever booking knew, a site keeps its last administrator.
	if err := keepsAdministrator(ctx, tx, p, nil); err != nil {
		return dropRefused(err)
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
