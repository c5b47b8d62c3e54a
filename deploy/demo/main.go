// Command demo fills a running system with a business through its API, or removes that business again. See README.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"frontdesk/deploy/client"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	data := flag.String("data", ".run", "data `folder` of the run on this machine, which says address, login and password")
	url := flag.String("url", "", "address of another system: http://host:port")
	login := flag.String("login", "admin", "login of an administrator there; SVC_ADMIN_PASSWORD has the password")
	months := flag.Int("months", 12, "`months` of appointments in the past; half as many follow")
	people := flag.Int("people", 240, "`people` who are clients; fewer are quicker")
	remove := flag.Bool("remove", false, "remove what an earlier run filled in")
	flag.Parse()
	if flag.NArg() > 0 || *months < 1 || *months > 36 || *people < 1 || *people > 1000 {
		flag.Usage()
		return errors.New("-months is 1 to 36, -people is 1 to 1000, and nothing follows the flags")
	}

	a := administrator{*url, *login, os.Getenv("SVC_ADMIN_PASSWORD")}
	if *url == "" {
		if err := a.read(*data); err != nil {
			return err
		}
	}
	d, err := signIn(a)
	if err != nil {
		return err
	}
	began := time.Now()
	if *remove {
		err = d.remove()
	} else {
		err = d.fill(time.Now(), *months, *people)
	}
	if err == nil {
		fmt.Printf("done in %.0f s: %s/team\n", time.Since(began).Seconds(), a.url)
	}
	return err
}

// administrator is where somebody signs in, and as whom.
type administrator struct{ url, login, password string }

// read takes address, login and password from run.json, which has no password where the environment gave one.
func (a *administrator) read(data string) error {
	raw, err := os.ReadFile(filepath.Join(data, "run.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing runs in %s: start it with 'make run', name the data folder of a run elsewhere (make demo DATA=folder), or give -url", data)
	}
	if err != nil {
		return err
	}
	var state struct {
		Gateway string
		Admin   struct{ Login, Password string }
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return err
	}
	a.url, a.login = state.Gateway, state.Admin.Login
	if state.Admin.Password != "" {
		a.password = state.Admin.Password
	}
	return nil
}

// demo calls the API in the session of its administrator.
type demo struct {
	client.API
	me int64
}

func signIn(a administrator) (*demo, error) {
	api, err := client.New(a.url)
	if err != nil {
		return nil, err
	}
	if err := api.SignIn(a.login, a.password); err != nil {
		return nil, fmt.Errorf("sign in as %s: %w", a.login, err)
	}
	d := &demo{API: api}
	var me struct {
		UserID int64 `json:"user_id"`
	}
	_, err = d.Call("GET", "/me", nil, &me)
	d.me = me.UserID
	return d, err
}
