package settings

import (
	"context"
	"fmt"
	"io"

	"frontdesk/libs/app"
)

// commands are what the program does for an operator beside running the service.
var commands = map[string]app.Command{
	"reset-password": {Takes: "LOGIN", Does: "prints a link by which somebody who has lost their password chooses another one", Run: resetPassword},
}

// resetPassword lets somebody in again who cannot be mailed, or whose administrator is gone.
func resetPassword(ctx context.Context, k *app.Kit, login string, out io.Writer) error {
	r, err := newRooms(k, nil)
	if err != nil {
		return err
	}
	link, err := r.passwords.NewLink(ctx, login)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Open this within two hours. It works once.\n%s\n", link)
	return err
}
