// The story of README.md by a client of oapi-codegen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"

	"frontdesk/deploy/clients/go/api"
)

var ctx = context.Background()

// must requires an answer: an error is that of the connection, refused is the error of the API.
func must[T any](answer *T, refused ...*api.Error) *T {
	for _, r := range refused {
		if r != nil {
			log.Fatalf("%s: %s", r.Code, r.Message)
		}
	}
	if answer == nil {
		log.Fatal("an answer that the document does not describe")
	}
	return answer
}

func sent[T any](answer T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return answer
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
	me := sent(strconv.ParseInt(os.Getenv("ME"), 10, 64))
	desk := sent(api.NewClientWithResponses(os.Getenv("API"), api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.SetBasicAuth(os.Getenv("LOGIN"), os.Getenv("KEY"))
		return nil
	})))
	visitor := sent(api.NewClientWithResponses(os.Getenv("API")))

	made := sent(desk.CreateServiceWithResponse(ctx, nil, api.CreateServiceJSONRequestBody{Name: new("Consultation by Go"), DurationMin: new(int64(30)),
		BookableOnline: new(true), Staff: &[]int64{me}}))
	service := must(made.JSON201, made.JSON400, made.JSON403)
	week := map[string][][]string{}
	for day := 1; day <= 7; day++ {
		week[strconv.Itoa(day)] = [][]string{{"09:00", "17:00"}}
	}
	hours := sent(desk.UpdateStaffHoursWithResponse(ctx, me, nil, api.UpdateStaffHoursJSONRequestBody{Hours: week}))
	must(hours.JSON200, hours.JSON400)
	definition := map[string]any{"elements": []any{
		map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true},
		map[string]any{"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"}}}
	drawn := sent(desk.CreateFormWithResponse(ctx, nil, api.CreateFormJSONRequestBody{Name: "Contact by Go", Status: new(api.CreateFormJSONBodyStatus("publish")), Definition: &definition}))
	form := must(drawn.JSON201, drawn.JSON400)
	hooked := sent(desk.CreateWebhookWithResponse(ctx, &api.CreateWebhookParams{IdempotencyKey: new("story-" + service.Id.String())},
		api.CreateWebhookJSONRequestBody{Name: "Go", Url: "http://127.0.0.1:9/hook", Active: new(false), Events: []string{"contact.created"}}))
	must(must(hooked.JSON201, hooked.JSON400).Secret)

	slots := until("free times", func() (*api.PublicSlots, bool) {
		a := sent(visitor.ListPublicSlotsWithResponse(ctx, &api.ListPublicSlotsParams{Service: service.Id}))
		return a.JSON200, a.JSON200 != nil && len(a.JSON200.Items) > 0
	})
	token := until("the form", func() (string, bool) {
		a := sent(visitor.GetFormTokenWithResponse(ctx, form.Id))
		if a.JSON200 == nil {
			return "", false
		}
		return a.JSON200.Token, true
	})
	time.Sleep(3200 * time.Millisecond)
	ada := "ada." + service.Id.String() + "@example.com"
	booked := sent(visitor.BookPubliclyWithResponse(ctx, nil, api.BookPubliclyJSONRequestBody{Service: service.Id, StartsAt: slots.Items[0].StartsAt, Token: &slots.Token,
		HpUrl: new(""), Page: new("https://example.com/"), Values: &map[string]any{"first_name": "Ada", "last_name": "Visitor", "email": ada}}))
	if must(booked.JSON201, booked.JSON400, booked.JSON409).Status != "confirmed" {
		log.Fatal("not confirmed")
	}
	wrote := sent(visitor.SubmitFormWithResponse(ctx, form.Id, nil, api.SubmitFormJSONRequestBody{Token: &token, HpUrl: new(""), Page: new("https://example.com/contact"),
		Values: map[string]any{"email": "grace." + service.Id.String() + "@example.com", "message": "Good morning"}}))
	must(wrote.JSON200, wrote.JSON400)

	contact := until("the contact", func() (api.Contact, bool) {
		a := sent(desk.FindContactsWithResponse(ctx, &api.FindContactsParams{Search: &ada}))
		if list := must(a.JSON200, a.JSON400); len(list.Items) > 0 {
			return list.Items[0], true
		}
		return api.Contact{}, false
	})
	until("the timeline", func() (int, bool) {
		a := sent(desk.GetContactTimelineWithResponse(ctx, contact.Id, nil))
		return 0, len(must(a.JSON200, a.JSON404).Items) > 1
	})

	link := until("the mail", func() (string, bool) {
		res := sent(http.Get(os.Getenv("MAILS") + "/api/mails?to=" + ada))
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
	cancelled := sent(visitor.CancelManagedAppointmentWithResponse(ctx, nil, api.CancelManagedAppointmentJSONRequestBody{Token: link, Reason: new("ill")}))
	if must(cancelled.JSON200, cancelled.JSON409).Status != "cancelled" {
		log.Fatal("not cancelled")
	}

	switchBooking := func(on bool) {
		a := sent(desk.UpdateAppWithResponse(ctx, "booking", api.UpdateAppJSONRequestBody{Enabled: on}))
		must(a.JSON200, a.JSON403, a.JSON409)
	}
	switchBooking(false)
	off := sent(visitor.ListPublicServicesWithResponse(ctx))
	if must(off.JSON404).Code != "svc_no_route" {
		log.Fatal("booking is not off")
	}
	switchBooking(true)
	until("booking", func() (int, bool) {
		a := sent(visitor.ListPublicServicesWithResponse(ctx))
		return 0, a.JSON200 != nil
	})
	fmt.Println("Go: done")
}
