package ics_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/ics"
)

func feedOf(n int) ics.Feed {
	f := ics.Feed{Name: "Salon Lumière", Every: 15 * time.Minute}
	for i := range n {
		e := visit
		e.UID, e.Start = fmt.Sprintf("%d@frontdesk", i), visit.Start.Add(time.Duration(i)*time.Hour)
		e.End = e.Start.Add(time.Hour)
		f.Events = append(f.Events, ics.FeedEvent{Event: e, Status: ics.Confirmed})
	}
	return f
}

func TestAnotherReaderFindsEveryEventOfAFeed(t *testing.T) {
	word := rapid.StringMatching(`[\p{L}\p{N}\p{P}\p{S}\n]{1,90}`)
	rapid.Check(t, func(t *rapid.T) {
		f := feedOf(rapid.IntRange(0, 5).Draw(t, "events"))
		f.Name = word.Draw(t, "name")
		for i := range f.Events {
			e := &f.Events[i]
			e.Summary, e.Location, e.Sequence = "x"+word.Draw(t, "summary"), word.Draw(t, "place"), rapid.IntRange(0, 99).Draw(t, "sequence")
			e.Status = rapid.SampledFrom([]ics.Status{ics.Confirmed, ics.Tentative, ics.Cancelled}).Draw(t, "status")
		}
		file, err := f.File()
		require.NoError(t, err)
		again, err := f.File()
		require.NoError(t, err)
		require.Equal(t, file, again)
		cal, err := ical.NewDecoder(bytes.NewReader(file)).Decode()
		require.NoError(t, err)
		require.Equal(t, "PUBLISH", cal.Props.Get(ical.PropMethod).Value)
		require.Len(t, cal.Events(), len(f.Events))
		for i, found := range cal.Events() {
			e := f.Events[i]
			start, err := found.DateTimeStart(time.UTC)
			require.NoError(t, err)
			require.True(t, start.Equal(e.Start))
			uid, err := found.Props.Text(ical.PropUID)
			require.NoError(t, err)
			require.Equal(t, e.UID, uid)
			require.Equal(t, string(e.Status), found.Props.Get(ical.PropStatus).Value)
			require.Nil(t, found.Props.Get(ical.PropAttendee))
			require.Nil(t, found.Props.Get(ical.PropOrganizer))
		}
	})
}

// The file is read by make calendars, with a library of Python.
func TestTheFeedIsTheOneThatOthersRead(t *testing.T) {
	f := feedOf(3)
	for i, status := range []ics.Status{ics.Confirmed, ics.Tentative, ics.Cancelled} {
		f.Events[i].Status, f.Events[i].Location = status, "Rue de l'Église 1; ’s-Gravenweg, B"
	}
	file, err := f.File()
	require.NoError(t, err)
	if os.Getenv("UPDATE_FEED") != "" {
		require.NoError(t, os.WriteFile("testdata/feed.ics", file, 0o644))
	}
	kept, err := os.ReadFile("testdata/feed.ics")
	require.NoError(t, err)
	require.Equal(t, string(kept), string(file), "UPDATE_FEED=1 writes it, make calendars reads it")
}

func TestAFeedWithoutEventsIsACalendar(t *testing.T) {
	file, err := feedOf(0).File()
	require.NoError(t, err)
	_, err = ical.NewDecoder(bytes.NewReader(file)).Decode()
	require.NoError(t, err)
}

func BenchmarkFeed(b *testing.B) {
	f := feedOf(5000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.File(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnEventThatAServerKeepsHasNoMethodAndNobodyWhoIsToAnswer(t *testing.T) {
	e := feedOf(1).Events[0]
	file, err := e.File()
	require.NoError(t, err)
	for _, part := range []string{"METHOD", "ORGANIZER", "ATTENDEE"} {
		require.NotContains(t, string(file), part)
	}
	read, err := ical.NewDecoder(bytes.NewReader(file)).Decode()
	require.NoError(t, err)
	require.Len(t, read.Events(), 1)
	uid, err := read.Events()[0].Props.Text(ical.PropUID)
	require.NoError(t, err)
	require.Equal(t, e.UID, uid)
	e.UID = ""
	_, err = e.File()
	require.Error(t, err)
}
