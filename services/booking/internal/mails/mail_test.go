package mails

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/letter"
	"frontdesk/proto"
)

func TestEveryMailToAClientHasATemplateAndEveryTemplateAMail(t *testing.T) {
	// What can happen to a request is mailed in other words.
	requests := []string{proto.KindAppointmentBooked, proto.KindAppointmentRescheduled, proto.KindAppointmentPlaceChanged, HandedOver}
	var written, have []string
	for kind := range mails {
		written = append(written, kind)
	}
	for _, kind := range requests {
		require.Contains(t, mails, kind)
		written = append(written, letter.Request(kind))
	}
	for _, k := range letter.Kinds {
		if strings.HasPrefix(k.Name, "appointment.") {
			have = append(have, k.Name)
		}
	}
	require.ElementsMatch(t, have, written)
	for kind, parts := range mails {
		k, _ := letter.Find(kind)
		manage := false
		for _, p := range k.Placeholders {
			manage = manage || p.Name == letter.Manage && p.Needed
		}
		require.Equal(t, parts.link, manage, "%s: a mail with a link needs it in its words", kind)
	}
}
