// Gateway keeps Traefik's configuration in step with the services and the apps. See README.md.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"frontdesk/gateway/internal/controller"
	"frontdesk/libs/memory"
	"frontdesk/libs/version"
)

//go:embed traefik.yml
var static string

// garbage is how much the controller lets pile up, in bytes. It reads the metrics of all processes every ten seconds.
const garbage = 8 << 20

func main() {
	if version.Printed("gateway") {
		return
	}
	only := flag.Bool("static", false, "write Traefik's files and end")
	flag.Usage = func() { controller.Help(os.Stdout) }
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("service", "gateway"))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.InfoContext(ctx, "starts", "version", version.String())
	go memory.Keep(ctx, garbage)
	settings, err := controller.SettingsFrom(os.Getenv)
	switch {
	case err != nil:
		err = fmt.Errorf("gateway cannot start:\n%w", err)
	case *only:
		err = settings.WriteFiles(static)
	default:
		err = controller.New(settings).Run(ctx, static)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
