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

// lock keeps a second run off the data folder until the file it answers with is closed, which the end of the process does too.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
		pid, _ := io.ReadAll(f)
		return nil, fmt.Errorf("%s is in use by another run (process %s): stop that one first, or choose another folder with SVC_DATA_DIR and other ports with SVC_HTTP_PORT",
			dir, strings.TrimSpace(string(pid)))
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	return f, err
}
