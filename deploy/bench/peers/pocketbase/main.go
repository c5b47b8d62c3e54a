// Command pocketbase is PocketBase with a collection of contacts, for the measurements of the folder above. Beside PocketBase's own
// commands it has setup, which makes the collection and a superuser and prints the superuser's token, and fill, which reads rows of
// CSV from standard input: id, first and last name, email, phone, status, source, tags as JSON, owner, time of creation.
//
// SYNCHRONOUS=FULL makes SQLite sync each commit to the disk; PocketBase's own connection, which is used otherwise, does not.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/spf13/cobra"
)

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{DBConnect: connect})
	command(app, "setup", setup)
	command(app, "fill", fill)
	if err := app.Start(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "pocketbase:", err)
	os.Exit(1)
}

// command adds one. PocketBase does not pass the errors of commands on, so they end the process here.
func command(app *pocketbase.PocketBase, name string, run func(core.App) error) {
	app.RootCmd.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {
		if err := run(app); err != nil {
			fail(fmt.Errorf("%s: %w", name, err))
		}
	}})
}

// connect opens a database as PocketBase does, and with SYNCHRONOUS=FULL syncs each commit.
func connect(file string) (*dbx.DB, error) {
	db, err := core.DefaultDBConnect(file)
	if err != nil || os.Getenv("SYNCHRONOUS") != "FULL" {
		return db, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	// The same pragmas as in core.DefaultDBConnect but for this one.
	return dbx.Open("sqlite", file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=journal_size_limit(200000000)&"+
		"_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
}

func setup(app core.App) error {
	contacts := core.NewBaseCollection("contacts")
	contacts.Fields.Add(
		&core.TextField{Name: "first_name", Max: 100},
		&core.TextField{Name: "last_name", Max: 100},
		&core.EmailField{Name: "email"},
		&core.TextField{Name: "phone", Max: 50},
		&core.SelectField{Name: "status", Values: []string{"lead", "customer", "inactive"}},
		&core.TextField{Name: "source", Max: 50},
		&core.JSONField{Name: "tags"},
		&core.NumberField{Name: "owner"},
		&core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true},
	)
	contacts.AddIndex("contacts_email", true, "email", "email != ''")
	contacts.AddIndex("contacts_created", false, "created", "")
	if err := app.Save(contacts); err != nil {
		return err
	}
	superusers, err := app.FindCollectionByNameOrId(core.CollectionNameSuperusers)
	if err != nil {
		return err
	}
	admin := core.NewRecord(superusers)
	admin.SetEmail("admin@example.com")
	admin.SetPassword("correct horse battery staple")
	if err := app.Save(admin); err != nil {
		return err
	}
	token, err := admin.NewStaticAuthToken(24 * time.Hour)
	if err != nil {
		return err
	}
	var synchronous int
	if err := app.DB().NewQuery("PRAGMA synchronous").Row(&synchronous); err != nil {
		return err
	}
	fmt.Println(token, synchronous)
	return nil
}

var columns = []string{"id", "first_name", "last_name", "email", "phone", "status", "source", "tags", "owner", "created"}

func fill(app core.App) error {
	err := app.RunInTransaction(func(tx core.App) error {
		q := tx.DB().NewQuery("INSERT INTO contacts (" + strings.Join(columns, ", ") + ", updated) VALUES ({:" + strings.Join(columns, "}, {:") + "}, {:created})")
		rows := csv.NewReader(os.Stdin)
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			values := dbx.Params{}
			for i, c := range columns {
				values[c] = row[i]
			}
			if _, err := q.Bind(values).Execute(); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	_, err = app.DB().NewQuery("ANALYZE").Execute()
	return err
}
