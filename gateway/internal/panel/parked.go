package panel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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

const (
	// parkedLasts is how long a service has to tell its parked messages, all its instances together: static/panel.js gives the page up after
	// five seconds.
	parkedLasts = 4 * time.Second
	// replayLasts is how long a replay may take. A service gives one up when nobody waits for its answer.
	replayLasts = 30 * time.Second
)

var (
	// errNobody means that no instance of a service can be asked.
	errNobody = errors.New("no instance of the service answers")
	// errUnsure means that an instance has the request and no answer came.
	errUnsure = errors.New("the service has not answered")
)

// parkedOf asks the instances of a service, one after the other, for its parked messages. What one has answered is final.
func (p *Panel) parkedOf(ctx context.Context, service string) parkedView {
	v := parkedView{Service: service}
	instances, err := p.askable(service), errNobody
	for _, i := range instances {
		// An instance that does not move leaves their share of the time to the others.
		if v.Messages, err = p.askParked(ctx, parkedLasts/time.Duration(len(instances)), i); !errors.Is(err, errNobody) {
			break
		}
	}
	if err != nil {
		v.Problem = err.Error()
	}
	return v
}

func (p *Panel) askParked(ctx context.Context, within time.Duration, i Instance) ([]parkedMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := p.call(ctx, http.MethodGet, i.AdminURL+"/parked")
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errNobody, i.Name, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, refusal(res)
	}
	var said struct {
		Items []parkedMessage `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, largestAnswer)).Decode(&said); err != nil {
		return nil, fmt.Errorf("its parked messages cannot be read: %w", err)
	}
	return said.Items, nil
}

// replay has a service handle a parked message again. The error says why it stays parked, unless it is errUnsure. A request that reached
// no instance goes to the next one; one that did is never repeated.
func (p *Panel) replay(ctx context.Context, service string, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, p.replayLasts)
	defer cancel()
	err := errNobody
	for _, i := range p.askable(service) {
		var res *http.Response
		if res, err = p.call(ctx, http.MethodPost, i.AdminURL+"/parked/"+strconv.FormatInt(id, 10)+"/replay"); err != nil {
			if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Op == "dial" {
				err = fmt.Errorf("%w: %s: %w", errNobody, i.Name, err)
				continue
			}
			return fmt.Errorf("%w: %s: %w", errUnsure, i.Name, err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusNoContent {
			return refusal(res)
		}
		return nil
	}
	return err
}

// askable are the instances of a service that have an admin port, the one with the newest sign first.
func (p *Panel) askable(service string) []Instance {
	all := slices.DeleteFunc(p.source.Instances(), func(i Instance) bool { return i.Service != service || i.AdminURL == "" })
	slices.SortFunc(all, func(a, b Instance) int { return b.Seen.Compare(a.Seen) })
	return all
}

// refusal is what an admin port says instead of doing what it was asked.
func refusal(res *http.Response) error {
	var said struct{ Code, Message string }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&said); err != nil || said.Message == "" {
		return fmt.Errorf("the service answers %s", res.Status)
	}
	return fmt.Errorf("the service answers %s: %s", said.Code, strings.TrimSuffix(said.Message, "."))
}
