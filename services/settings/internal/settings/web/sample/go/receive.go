// Receives events on PORT. The SECRET is the webhook's.
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	hook, err := standardwebhooks.NewWebhook(os.Getenv("SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	//nolint:gosec // a sample
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || hook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		// Do nothing twice: webhook-id is the same on every attempt of an event.
		log.Println(r.Header.Get("webhook-id"), r.Header.Get("X-Svc-Event"))
		w.WriteHeader(http.StatusNoContent)
	})))
}
