package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"

	"frontdesk/libs/freeport"
)

// startPocketBase starts PocketBase with the durability that it has by itself, or full.
func startPocketBase(ctx context.Context, dir string, full bool) (*subject, error) {
	program, err := filepath.Abs(filepath.Join(*tools, "pocketbase"))
	if err != nil {
		return nil, err
	}
	s := &subject{name: "PocketBase", api: pocketBase{}, stores: func() []int { return nil }}
	data, env := filepath.Join(dir, "pocketbase"), with()
	if full {
		s.name, s.onlyWrites = "PocketBase, synchronous=FULL", true
		data, env = filepath.Join(dir, "pocketbase-full"), with("SYNCHRONOUS=FULL")
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, append(args, "--dir", data)...)
		cmd.Env = env
		return cmd
	}
	out, err := run(command("setup"))
	if err != nil {
		return nil, err
	}
	var token string
	var synchronous int
	if _, err := fmt.Sscan(string(out), &token, &synchronous); err != nil {
		return nil, fmt.Errorf("setup printed %q: %w", out, err)
	}
	s.auth = token
	if s.commits = "nothing"; synchronous >= 2 {
		s.commits = "fsync"
	}
	listen := freeport.Address()
	s.url = "http://" + listen
	// The first start makes the databases; setup has done that, so a folder of its own shows how long it takes.
	fresh := exec.Command(program, "serve", "--http", listen, "--dir", data+"-fresh")
	fresh.Env = with("HOME="+dir, "PATH=") // no browser opens
	p, took, err := startProcess(fresh, s.url+"/api/health")
	if err != nil {
		return nil, err
	}
	p.stop()
	s.first = took
	if p, s.next, err = startProcess(command("serve", "--http", listen), s.url+"/api/health"); err != nil {
		return nil, err
	}
	s.stop, s.own = p.stop, p.family
	s.fill = func(ctx context.Context, first, last int) error {
		return fillPocketBase(ctx, command("fill"), first, last)
	}
	return s, nil
}

// fillPocketBase adds the persons first to last, beside the process that serves.
func fillPocketBase(ctx context.Context, cmd *exec.Cmd, first, last int) error {
	in, rows := io.Pipe()
	cmd.Stdin = in
	stop := context.AfterFunc(ctx, func() { _ = rows.CloseWithError(ctx.Err()) })
	defer stop()
	go func() {
		w := csv.NewWriter(rows)
		for i := first; i <= last; i++ {
			p := personOf(i)
			_ = w.Write([]string{pocketID(i), p.first, p.last, p.email, p.phone, p.status, p.source, fmt.Sprintf("[%q]", p.tag), "1", p.created.Format("2006-01-02 15:04:05.000Z")})
		}
		w.Flush()
		_ = rows.CloseWithError(w.Error())
	}()
	_, err := run(cmd)
	_ = in.Close()
	return err
}

// pocketID is of 15 letters and digits, in no order, as PocketBase makes them.
func pocketID(i int) string {
	id := personOf(i).id
	return fmt.Sprintf("%x", id[:])[:15]
}

// pocketBase is its API of records.
type pocketBase struct{}

const pocketContacts = "/api/collections/contacts/records"

func (pocketBase) page(text string, total bool) (string, error) {
	q := url.Values{"perPage": {"20"}, "sort": {"-created"}}
	if !total {
		q.Set("page", "2")
		q.Set("skipTotal", "1")
	}
	if text != "" {
		q.Set("filter", fmt.Sprintf("first_name ~ %[1]q || last_name ~ %[1]q || email ~ %[1]q || phone ~ %[1]q", text))
	}
	return pocketContacts + "?" + q.Encode(), nil
}

func (pocketBase) read(page []byte) (items, total int, err error) {
	var l struct {
		Items      []json.RawMessage
		TotalItems int
	}
	err = json.Unmarshal(page, &l)
	return len(l.Items), l.TotalItems, err
}

func (pocketBase) create(p person) request {
	return request{http.MethodPost, pocketContacts, map[string]any{"first_name": p.first, "last_name": p.last, "email": p.email, "phone": p.phone, "status": p.status, "source": p.source, "owner": 1}}
}

func (pocketBase) change(i int, phone string) request {
	return request{http.MethodPatch, pocketContacts + "/" + pocketID(i), map[string]any{"phone": phone}}
}
