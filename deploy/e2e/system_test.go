// Package e2e tests the whole system: the processes that `make run` starts, through the gateway.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"frontdesk/deploy/system"
)

var (
	sys     *system.System
	visitor system.Client
)

// TestMain starts the system once for all tests, or uses the one whose folder E2E_DATA_DIR names.
func TestMain(m *testing.M) { os.Exit(withSystem(m)) }

func withSystem(m *testing.M) int {
	var err error
	if sys, err = system.Start(context.Background(), system.Options{Data: os.Getenv("E2E_DATA_DIR"), Progress: os.Stderr,
		Env: []string{"SVC_TRUSTED_PROXIES=127.0.0.0/8"}}); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer sys.Stop()
	visitor = sys.Visitor()
	code := m.Run()
	if code != 0 {
		sys.Logs(os.Stderr)
	}
	return code
}
