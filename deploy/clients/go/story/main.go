// The story of README.md by the SDK. It calls by way of a proxy that is unsteady (run.mjs).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"

	frontdesk "frontdesk.internal/sdk"
	"frontdesk.internal/sdk/api"
)

var ctx = context.Background()

// must returns a value; an error ends the story.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// until returns the first value that found gives, within ten seconds.
func until[T any](what string, found func() (T, bool)) T {
	for range 100 {
		if v, ok := found(); ok {
			return v
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("waited in vain for " + what)
	panic("not reached")
}

func main() {
	me := must(strconv.ParseInt(os.Getenv("ME"), 10, 64))
	desk := must(frontdesk.New(os.Getenv("API"), frontdesk.Key(os.Getenv("LOGIN"), os.Getenv("KEY"))))
	visitor := must(frontdesk.New(os.Getenv("API")))

	service := must(desk.CreateServiceWithResponse(ctx, nil, api.CreateServiceJSONRequestBody{Name: new("Consultation by Go"), DurationMin: new(int64(30)),
		BookableOnline: new(true), Staff: &[]int64{me}})).JSON201
	week := map[string][][]string{}
	for day := 1; day <= 7; day++ {
		week[strconv.Itoa(day)] = [][]string{{"09:00", "17:00"}}
	}
	must(desk.UpdateStaffHoursWithResponse(ctx, me, nil, api.UpdateStaffHoursJSONRequestBody{Hours: week}))
	definition := map[string]any{"elements": []any{
		map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true},
		map[string]any{"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"}}}
	form := must(desk.CreateFormWithResponse(ctx, nil, api.CreateFormJSONRequestBody{Name: "Contact by Go", Status: new(api.CreateFormJSONBodyStatus("publish")), Definition: &definition})).JSON201
	hook := must(desk.CreateWebhookWithResponse(ctx, &api.CreateWebhookParams{IdempotencyKey: new("story-" + service.Id.String())},
		api.CreateWebhookJSONRequestBody{Name: "Go", Url: "http://127.0.0.1:9/hook", Active: new(false), Events: []string{"contact.created"}})).JSON201
	if hook.Secret == nil {
		log.Fatal("no secret")
	}

	slots := until("free times", func() (*api.PublicSlots, bool) {
		a := must(visitor.ListPublicSlotsWithResponse(ctx, &api.ListPublicSlotsParams{Service: service.Id})).JSON200
		return a, len(a.Items) > 1 // the first may have passed when it is booked
	})
	token := until("the form", func() (string, bool) {
		a, err := visitor.GetFormTokenWithResponse(ctx, form.Id)
		if err != nil {
			return "", false
		}
		return a.JSON200.Token, true
	})
	time.Sleep(3200 * time.Millisecond)
	ada := "ada." + service.Id.String() + "@example.com"
	booked := must(visitor.BookPubliclyWithResponse(ctx, nil, api.BookPubliclyJSONRequestBody{Service: service.Id, StartsAt: slots.Items[1].StartsAt, Token: &slots.Token,
		HpUrl: new(""), Page: new("https://example.com/"), Values: &map[string]any{"first_name": "Ada", "last_name": "Visitor", "email": ada}}))
	if booked.JSON201.Status != "confirmed" {
		log.Fatal("not confirmed")
	}
	must(visitor.SubmitFormWithResponse(ctx, form.Id, nil, api.SubmitFormJSONRequestBody{Token: &token, HpUrl: new(""), Page: new("https://example.com/contact"),
		Values: map[string]any{"email": "grace." + service.Id.String() + "@example.com", "message": "Good morning"}}))

	contact := until("the contact", func() (found api.Contact, _ bool) {
		list := must(desk.FindContactsWithResponse(ctx, &api.FindContactsParams{Search: &ada})).JSON200
		if len(list.Items) == 0 {
			return found, false
		}
		return list.Items[0], true
	})
	until("the timeline", func() (int, bool) {
		return 0, len(must(desk.GetContactTimelineWithResponse(ctx, contact.Id, nil)).JSON200.Items) > 1
	})

	// Pages of one record each, and a record that somebody else changes between reading and writing it.
	seen := map[string]bool{}
	search := service.Id.String()
	for c, err := range frontdesk.Each[api.Contact](ctx, desk, func(server string) (*http.Request, error) {
		return api.NewFindContactsRequest(server, &api.FindContactsParams{Search: &search, PerPage: new(int64(1))})
	}) {
		if err != nil {
			log.Fatal(err)
		}
		seen[c.Id.String()] = true
	}
	if len(seen) != 2 || !seen[contact.Id.String()] {
		log.Fatal("the pages have ", seen)
	}
	reads, overwrite := 0, api.UpdateContactJSONBodyMode("overwrite")
	change := func() error {
		read, err := desk.GetContactWithResponse(ctx, contact.Id)
		if err != nil {
			return err
		}
		if reads++; reads == 1 {
			must(desk.UpdateContactWithResponse(ctx, contact.Id, nil, api.UpdateContactJSONRequestBody{FirstName: new("Ada M."), Mode: new(overwrite)}))
		}
		_, err = desk.UpdateContactWithResponse(ctx, contact.Id, &api.UpdateContactParams{IfMatch: read.Headers200.ETag},
			api.UpdateContactJSONRequestBody{LastName: new(read.JSON200.FirstName + " Byron"), Mode: new(overwrite)})
		return err
	}
	if err := frontdesk.Edit(change); err != nil || reads != 2 {
		log.Fatalf("edited after %d reads: %v", reads, err)
	}

	link := until("the mail", func() (string, bool) {
		res := must(http.Get(os.Getenv("MAILS") + "/api/mails?to=" + ada))
		defer res.Body.Close()
		var mails struct{ Items []struct{ Text string } }
		if err := json.NewDecoder(res.Body).Decode(&mails); err != nil {
			log.Fatal(err)
		}
		for _, m := range mails.Items {
			if found := regexp.MustCompile(`/manage#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(m.Text); found != nil {
				return found[1], true
			}
		}
		return "", false
	})
	cancelled := must(visitor.CancelManagedAppointmentWithResponse(ctx, nil, api.CancelManagedAppointmentJSONRequestBody{Token: link, Reason: new("ill")}))
	if cancelled.JSON200.Status != "cancelled" {
		log.Fatal("not cancelled")
	}
	var wrong *frontdesk.Error
	if _, err := desk.CreateTagWithResponse(ctx, nil, api.CreateTagJSONRequestBody{}); !errors.As(err, &wrong) || wrong.Status != http.StatusBadRequest || wrong.Fields["name"] == "" || wrong.RequestID == "" {
		log.Fatal("the error has no facts: ", err)
	}

	must(desk.UpdateAppWithResponse(ctx, "booking", api.UpdateAppJSONRequestBody{Enabled: false}))
	if _, err := visitor.ListPublicServicesWithResponse(ctx); !frontdesk.Is(err, "svc_no_route") {
		log.Fatal("booking is not off: ", err)
	}
	must(desk.UpdateAppWithResponse(ctx, "booking", api.UpdateAppJSONRequestBody{Enabled: true}))
	until("booking", func() (int, bool) {
		_, err := visitor.ListPublicServicesWithResponse(ctx)
		return 0, err == nil
	})
	fmt.Println("Go: done")
}
