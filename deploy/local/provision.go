package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"frontdesk/libs/db/pgserver"
)

// provision makes the database, roles and schemas in the server at DATABASE_URL (an administrator's), and sets the roles'
// passwords to those in <SERVICE>_DB_PASSWORD. A second run changes nothing else.
func provision(ctx context.Context, args []string) error {
	if len(args) > 0 {
		fmt.Println("Usage: local provision\nEnvironment: DATABASE_URL (an administrator's)")
	}
	passwords := map[string]string{}
	var missing []string
	for _, s := range services {
		name := strings.ToUpper(s) + "_DB_PASSWORD"
		if len(args) > 0 {
			fmt.Println("  " + name)
		}
		if passwords[s] = os.Getenv(name); passwords[s] == "" {
			missing = append(missing, name)
		}
	}
	if len(args) > 0 {
		return nil
	}
	if len(missing) > 0 {
		return errors.New(strings.Join(missing, ", ") + ": set a password for each role")
	}
	if os.Getenv("DATABASE_URL") == "" {
		return errors.New("DATABASE_URL takes the address of an administrator, postgres://name:password@host:port/postgres")
	}
	_, err := pgserver.Provision(ctx, os.Getenv("DATABASE_URL"), passwords)
	return err
}
