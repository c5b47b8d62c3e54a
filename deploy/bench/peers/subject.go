package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db/pgserver/tether"
)

// subject is one way to a system that keeps contacts.
type subject struct {
	name       string
	commits    string // what a commit waits for
	onlyWrites bool   // reading would measure the subject before again
	url        string // http://host:port
	auth       string // the value of the header Authorization
	api        api
	fill       func(ctx context.Context, first, last int) error
	stop       func()

	first, next time.Duration // from the first start's command to its first answer, and from a later one's; 0 is not measured
	own, stores func() []int  // the processes of the system, and of the databases and brokers that it needs
	rest        [2]int        // KiB that both held before there were contacts
}

// api is how a system is asked for the same things as the others.
type api interface {
	// page is the path of a page of 20 contacts, newest first, in which the text is found: the first with the total number, or the
	// second without.
	page(text string, total bool) (path string, err error)
	// read counts what is on a page. The total is -1 on pages without a total.
	read(page []byte) (items, total int, err error)
	// create is the request that makes a person a contact; change gives the i-th person another number.
	create(p person) request
	change(i int, phone string) request
}

// request is one that is sent to a subject.
type request struct {
	method, path string
	body         map[string]any
}

var caller = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

// call sends a request and returns the answer. Each subject costs the caller the same.
func (s *subject) call(r request) ([]byte, error) {
	var body io.Reader
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(r.method, s.url+r.path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", s.auth)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := caller.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s %s: %s: %.300s", s.name, r.method, r.path, res.Status, answer)
	}
	return answer, err
}

// quiet returns once the subject works at nothing: writes have effects that go on behind their answers.
func (s *subject) quiet(ctx context.Context) error {
	const pause = 150 * time.Millisecond
	end := time.Now().Add(time.Minute)
	for before := s.worked(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		now := s.worked()
		if now-before <= pause/5 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is still at work after a minute", s.name)
		}
		before = now
	}
}

func (s *subject) worked() time.Duration { return world.Worked(s.own()) + world.Worked(s.stores()) }

// held is the memory in KiB of the subject's processes, and of its databases and brokers.
func (s *subject) held() [2]int { return [2]int{world.Held(s.own()), world.Held(s.stores())} }

// process is a program that answers at an address.
type process struct {
	*exec.Cmd
	ended chan struct{}
	said  bytes.Buffer
}

// startProcess starts a program and returns once a GET of url is answered with 200, and how long that took.
func startProcess(cmd *exec.Cmd, url string) (*process, time.Duration, error) {
	p := &process{Cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	began := time.Now()
	if err := tether.Start(cmd, syscall.SIGTERM); err != nil {
		return nil, 0, err
	}
	go func() { _ = cmd.Wait(); close(p.ended) }()
	for time.Since(began) < 2*time.Minute {
		select {
		case <-p.ended:
			return nil, 0, fmt.Errorf("%s ended: %s: %s", cmd.Path, cmd.ProcessState, &p.said)
		case <-time.After(10 * time.Millisecond):
		}
		res, err := http.Get(url) //nolint:gosec // an address on this machine
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return p, time.Since(began), nil
		}
	}
	p.stop()
	return nil, 0, fmt.Errorf("%s does not answer at %s", cmd.Path, url)
}

// stop ends the process, and waits for that.
func (p *process) stop() {
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.Process.Kill()
		<-p.ended
	}
}

func (p *process) family() []int { return world.Family(p.Process.Pid) }

// run runs a program to its end and returns its output.
func run(cmd *exec.Cmd) ([]byte, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", cmd.Path, err, out, &said)
	}
	return out, nil
}

// with is this process's environment with more variables.
func with(env ...string) []string { return append(os.Environ(), env...) }
