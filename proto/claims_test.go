package proto_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestAServiceMayNotTakeAnothersPath(t *testing.T) {
	for _, own := range [][3]string{
		{"settings", "POST", "/auth/login"}, {"settings", "POST", "/staff"}, {"booking", "GET", "/staff"}, {"booking", "DELETE", "/staff/{anybody}"},
		{"settings", "DELETE", "/staff/{user}/two-factor"}, {"contacts", "GET", "/contacts/{id}"}, {"booking", "GET", "/booking/slots"},
		{"settings", "GET", "/abilities"}, {"settings", "GET", "/abilities/svc/find-audit-entries"}, {"settings", "POST", "/abilities/svc/find-audit-entries/run"},
	} {
		require.NoError(t, proto.MayRoute(own[0], own[1], own[2]))
	}
	for _, foreign := range [][3]string{
		{"booking", "POST", "/auth/login"}, {"forms", "POST", "/auth/{what}"}, {"forms", "GET", "/{anything}"}, {"forms", "GET", "/"}, {"forms", "GET", "/{all...}"},
		{"booking", "POST", "/staff"}, {"settings", "DELETE", "/staff/{user}"}, {"booking", "GET", "/staff/unlisted"}, {"webhooks", "GET", "/abilities/svc/find-audit-entries"},
		{"webhooks", "GET", "/abilities/svc/unlisted"}, {"forms", "GET", "/exports/unlisted.csv"}, {"", "GET", "/me"}, {"nobody", "GET", "/contacts"},
	} {
		require.Error(t, proto.MayRoute(foreign[0], foreign[1], foreign[2]), foreign)
	}
	require.EqualError(t, proto.MayRoute("booking", "POST", "/staff"), "POST /staff belongs to settings")

	for _, own := range [][2]string{{"settings", "/account"}, {"settings", "/account/sign-in"}, {"settings", "/{slug}"}, {"forms", "/f/{id}"}, {"booking", "/_ui/booking/"}} {
		require.NoError(t, proto.MayShow(own[0], own[1]))
	}
	for _, foreign := range [][2]string{{"forms", "/account/sign-in"}, {"forms", "/"}, {"forms", "/{slug}"}, {"booking", "/manager"}, {"settings", "/_ui/"}, {"webhooks", "/f/"}} {
		require.Error(t, proto.MayShow(foreign[0], foreign[1]), foreign)
	}
}
