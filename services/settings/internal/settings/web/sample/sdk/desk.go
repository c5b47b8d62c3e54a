//go:build ignore

// The lines of the guides in Go, a section for each, which make clients compiles and runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	frontdesk "frontdesk.internal/sdk"
	"frontdesk.internal/sdk/api"
)

func main() {
	ctx := context.Background()
	url, login, key := os.Getenv("FRONTDESK_URL"), os.Getenv("FRONTDESK_LOGIN"), os.Getenv("FRONTDESK_KEY")
	// § connect
	desk, err := frontdesk.New(url, frontdesk.Key(login, key))
	if err != nil {
		log.Fatal(err)
	}
	me, err := desk.GetMeWithResponse(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(me.JSON200.Capabilities)
	// § once
	// Sent again with the same key when no answer comes. Without a key of yours each call has one of its own.
	tag, err := desk.CreateTagWithResponse(ctx, &api.CreateTagParams{IdempotencyKey: new("8d3e7c4a")}, api.CreateTagJSONRequestBody{Name: "From the guide"})
	// §
	if err != nil || tag.JSON201 == nil {
		log.Fatal(err)
	}
	someone, err := desk.CreateContactWithResponse(ctx, nil, api.CreateContactJSONRequestBody{Email: new("lines.go@example.com")})
	if err != nil {
		log.Fatal(err)
	}
	id := someone.JSON201.Id
	// § each
	leads := func(server string) (*http.Request, error) {
		return api.NewFindContactsRequest(server, &api.FindContactsParams{Status: new(api.FindContactsParamsStatus("lead"))})
	}
	for contact, err := range frontdesk.Each[api.Contact](ctx, desk, leads) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contact.Email)
	}
	// § edit
	// Reads the contact and its version, and writes it only if nobody has changed it meanwhile; else it begins again.
	err = frontdesk.Edit(func() error {
		contact, err := desk.GetContactWithResponse(ctx, id)
		if err != nil {
			return err
		}
		tags := append(contact.JSON200.Tags, "VIP")
		_, err = desk.UpdateContactWithResponse(ctx, id, &api.UpdateContactParams{IfMatch: contact.Headers200.ETag}, api.UpdateContactJSONRequestBody{Tags: &tags})
		return err
	})
	// §
	if err != nil {
		log.Fatal(err)
	}
	// § error
	_, err = desk.FindContactsWithResponse(ctx, &api.FindContactsParams{PerPage: new(int64(1000))})
	var refused *frontdesk.Error
	if errors.As(err, &refused) && refused.Code == "svc_invalid_param" {
		fmt.Println(refused.Fields, refused.RequestID)
	}
	// §
	sample, err := desk.GetWebhookEventSampleWithResponse(ctx, "contact.created", nil)
	if refused == nil || err != nil {
		log.Fatal(err)
	}
	secret, body, header := sample.JSON200.Secret, []byte(sample.JSON200.Body), http.Header{}
	for _, h := range sample.JSON200.Headers {
		header.Set(h.Name, h.Value)
	}
	// § verify
	event, err := frontdesk.Verify(secret, header, body)
	if err != nil {
		log.Fatal(err) // the signature is wrong
	}
	fmt.Println(event.ID, event.Event, string(event.Data))
	// §
}
