package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lock claims the data folder until the returned file is closed or the process ends. If another run has claimed it, the
// error names that run's process.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		pid, _ := io.ReadAll(f)
		return nil, fmt.Errorf("%s is in use by another run (process %s): stop that one first, or choose another folder with SVC_DATA_DIR and other ports with SVC_HTTP_PORT",
			dir, strings.TrimSpace(string(pid)))
	}
	if err := f.Truncate(0); err != nil {
		return nil, fmt.Errorf("write our process into %s: %w", f.Name(), err)
	}
	if _, err := fmt.Fprintln(f, os.Getpid()); err != nil {
		return nil, fmt.Errorf("write our process into %s: %w", f.Name(), err)
	}
	return f, nil
}
