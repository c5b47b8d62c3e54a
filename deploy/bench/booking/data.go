package main

import (
	"context"
	"fmt"
	"strconv"
)

const (
	people       = 20
	days         = 31
	appointments = 10_000
)

// everybody is the ids of all people, others those of as many who are not in them.
func everybody() []int64 { return idsFrom(1) }
func others() []int64    { return idsFrom(1 + people) }

func idsFrom(first int64) (ids []int64) {
	for id := first; id < first+people; id++ {
		ids = append(ids, id)
	}
	return ids
}

// fill creates a service that these people do, with hours all day, and a month of appointments, and returns its id.
func (b *bench) fill(ctx context.Context, users []int64) (service string, err error) {
	var made struct{ ID string }
	_, err = b.Call("POST", "/services", map[string]any{"name": "Bench", "duration_min": 15, "staff": users, "buffer_after": 5}, &made)
	if err != nil {
		return "", err
	}
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[strconv.Itoa(day)] = [][]string{{"08:00", "12:00"}, {"13:00", "20:00"}}
	}
	for _, user := range users {
		if _, err := b.Call("PUT", fmt.Sprintf("/staff/%d/hours", user), map[string]any{"hours": hours}, nil); err != nil {
			return "", err
		}
	}
	if _, err := b.Call("PATCH", "/settings/booking", map[string]any{"max_advance_days": 730}, nil); err != nil {
		return "", err
	}
	_, err = b.DB.Exec(ctx, `
		with n as (select i, $6::bigint + i % $2 as user_id, (i / $2) % $3 as day, i / $2 / $3 as turn from generate_series(0, $1 - 1) i)
		insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type,
			location, meeting_url, notes, source, timed_at, created_at, updated_at)
		select gen_random_uuid(), 'confirmed', $4, '{"name": "Bench", "duration_min": 15}', user_id, gen_random_uuid(),
			$5::timestamptz + make_interval(days => day, mins => 8 * 60 + turn * 40), $5::timestamptz + make_interval(days => day, mins => 8 * 60 + turn * 40 + 15),
			0, 5, 'in_person', '', '', '', 'api', now(), now(), now() from n`, appointments, people, days, made.ID, b.first, users[0])
	if err != nil {
		return "", fmt.Errorf("fill the calendar: %w", err)
	}
	_, err = b.DB.Exec(ctx, `analyze appointment`)
	return made.ID, err
}
