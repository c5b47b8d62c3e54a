package booking

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATakeoutHasWhatWasBookedAndWhenPeopleWork(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	booked := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
	o.SetApp(appID, false)

	lists := o.Takeout()
	require.Len(t, lists["appointments"], 1, "though the app is off")
	require.Equal(t, booked, lists["appointments"][0]["id"])
	require.Equal(t, o.service, lists["services"][0]["id"])
	require.Len(t, lists["services"][0]["staff"], 1)
	require.NotEmpty(t, lists["staff"][0]["hours"])
	require.Len(t, lists["booking-settings"], 1)
}
