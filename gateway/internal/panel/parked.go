package panel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parkedMessage is a message that a service could not handle, as its admin port shows it.
type parkedMessage struct {
	ID       int64     `json:"id"`
	Topic    string    `json:"topic"`
	Offset   int64     `json:"offset"`
	Key      string    `json:"key"`
	Error    string    `json:"error"`
	ParkedAt time.Time `json:"parked_at"`
}

// parkedView is what is parked at a service; Problem is why that cannot be told.
type parkedView struct {
	Service  string
	Messages []parkedMessage
	Problem  string
}

// errNobody means that no instance of a service can be asked.
var errNobody = errors.New("no instance of the service answers")

// parkedOf asks the instances of a service, one after the other, for its parked messages.
func (p *Panel) parkedOf(ctx context.Context, service string) parkedView {
	v := parkedView{Service: service}
	err := p.ask(ctx, service, http.MethodGet, "/parked", func(res *http.Response) error {
		if res.StatusCode != http.StatusOK {
			return refusal(res)
		}
		var said struct {
			Items []parkedMessage `json:"items"`
		}
		if err := json.NewDecoder(io.LimitReader(res.Body, largestAnswer)).Decode(&said); err != nil {
			return fmt.Errorf("its parked messages cannot be read: %w", err)
		}
		v.Messages = said.Items
		return nil
	})
	if err != nil {
		v.Problem = err.Error()
	}
	return v
}

// replay has a service handle a parked message again. The error says why it stays parked.
func (p *Panel) replay(ctx context.Context, service string, id int64) error {
	return p.ask(ctx, service, http.MethodPost, "/parked/"+strconv.FormatInt(id, 10)+"/replay", func(res *http.Response) error {
		if res.StatusCode != http.StatusNoContent {
			return refusal(res)
		}
		return nil
	})
}

// ask calls the admin port of one instance of a service, the one with the newest sign first, until one can be reached. What it has
// answered is final.
func (p *Panel) ask(ctx context.Context, service, method, path string, answered func(*http.Response) error) error {
	all := slices.DeleteFunc(p.source.Instances(), func(i Instance) bool { return i.Service != service || i.AdminURL == "" })
	slices.SortFunc(all, func(a, b Instance) int { return b.Seen.Compare(a.Seen) })
	err := errNobody
	for _, i := range all {
		var res *http.Response
		if res, err = p.call(ctx, method, i.AdminURL+path); err != nil {
			err = fmt.Errorf("%w: %s: %w", errNobody, i.Name, err)
			continue
		}
		defer res.Body.Close()
		return answered(res)
	}
	return err
}

// refusal is what an admin port says instead of doing what it was asked.
func refusal(res *http.Response) error {
	var said struct{ Code, Message string }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&said); err != nil || said.Message == "" {
		return fmt.Errorf("the service answers %s", res.Status)
	}
	return fmt.Errorf("the service answers %s: %s", said.Code, strings.TrimSuffix(said.Message, "."))
}
