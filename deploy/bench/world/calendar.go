package world

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"frontdesk/deploy/client"
)

// Calendar is a service with hours around the clock, whose times of five minutes visitors book: 17,000 of each of its people.
type Calendar struct {
	Free string // the path of the free times

	service, token string
	staff          []int64
	starts         []string
	booked         atomic.Int64
}

// NewCalendar makes the service as whom the client calls as, invites colleagues who do it too, and returns once visitors may book it.
func NewCalendar(a *client.API, colleagues int) (*Calendar, error) {
	var user struct {
		ID int64 `json:"user_id"`
	}
	if _, err := a.Call(http.MethodGet, "/me", nil, &user); err != nil {
		return nil, err
	}
	c := &Calendar{staff: []int64{user.ID}}
	for n := range colleagues {
		if _, err := a.Call(http.MethodPost, "/staff", map[string]string{"name": fmt.Sprint("Colleague ", n), "email": fmt.Sprintf("colleague%d@example.com", n)}, &user); err != nil {
			return nil, err
		}
		c.staff = append(c.staff, user.ID)
	}
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[fmt.Sprint(day)] = [][]string{{"00:00", "24:00"}}
	}
	for _, id := range c.staff {
		// The service hears of new colleagues a moment later.
		for until := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			status, err := a.Call(http.MethodPut, fmt.Sprintf("/staff/%d/hours", id), map[string]any{"hours": hours}, nil)
			if err == nil {
				break
			}
			if status != http.StatusNotFound || time.Now().After(until) {
				return nil, err
			}
		}
	}
	var service struct{ ID string }
	if _, err := a.Call(http.MethodPost, "/services", map[string]any{"name": "Bench", "duration_min": 5, "staff": c.staff, "bookable_online": true, "max_advance_days": 365}, &service); err != nil {
		return nil, err
	}
	c.Free, c.service = "/booking/slots?service="+service.ID, service.ID
	var free struct {
		Token string
		Items []struct {
			StartsAt string `json:"starts_at"`
		}
	}
	if _, err := a.Call(http.MethodGet, c.Free+"&to="+time.Now().AddDate(0, 0, 61).Format(time.DateOnly), nil, &free); err != nil {
		return nil, err
	}
	time.Sleep(4 * time.Second) // nobody fills in a form faster
	c.token = free.Token
	for _, slot := range free.Items {
		c.starts = append(c.starts, slot.StartsAt)
	}
	return c, nil
}

// Book books the next time of the next person as a visitor, where the client calls. It is an error if all are booked.
func (c *Calendar) Book(a *client.API) error {
	n := int(c.booked.Add(1)) - 1
	if n >= len(c.starts)*len(c.staff) {
		return errors.New("all times are booked: measure for a shorter time")
	}
	start, staff := c.starts[n/len(c.staff)], c.staff[n%len(c.staff)]
	status, err := a.Call(http.MethodPost, "/booking/book", map[string]any{"service": c.service, "staff": staff, "starts_at": start, "token": c.token, "hp_url": "", "page": "https://example.com/",
		"values": map[string]string{"first_name": "Bea", "last_name": "Bench", "email": fmt.Sprintf("b%s-%d@example.com", strings.ReplaceAll(start[5:16], ":", "-"), staff)}}, nil)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("a booking of %s is answered with %d", start, status)
	}
	return err
}
