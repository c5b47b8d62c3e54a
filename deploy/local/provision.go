package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/caarlos0/env/v11"

	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/knob"
)

// provision makes the database, and roles and schemas of all services or of some, in the server at DATABASE_URL (an administrator's), and
// sets the roles' passwords to those in <SERVICE>_DB_PASSWORD. A second run changes nothing else.
func provision(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("provision", flag.ExitOnError)
	only := flags.String("services", "", "services, separated by commas; all when empty")
	flags.Usage = func() {
		fmt.Println("Usage: local provision [-services a,b]\nEnvironment, each also with _FILE for the name of a file that holds it:\n  DATABASE_URL (an administrator's)\n  " + strings.Join(named(databasePassword, services), "\n  "))
	}
	_ = flags.Parse(args)
	names, err := someServices(*only)
	if err != nil {
		return err
	}
	variables := named(databasePassword, names)
	environ, err := knob.WithSecrets(env.ToMap(os.Environ()), append(variables, "DATABASE_URL")...)
	if err != nil {
		return err
	}
	passwords := map[string]string{}
	var missing []string
	for _, s := range names {
		if passwords[s] = environ[databasePassword(s)]; passwords[s] == "" {
			missing = append(missing, databasePassword(s))
		}
	}
	if len(missing) > 0 {
		return errors.New(strings.Join(missing, ", ") + ": set a password for each role")
	}
	if environ["DATABASE_URL"] == "" {
		return errors.New("DATABASE_URL takes the address of an administrator, postgres://name:password@host:port/postgres")
	}
	_, err = pgserver.Provision(ctx, environ["DATABASE_URL"], passwords)
	return err
}

func databasePassword(service string) string { return strings.ToUpper(service) + "_DB_PASSWORD" }
