// Package durable writes files that outlast a loss of power.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file in one step, so no reader sees half of it. It is on the disk, under its name, when Write returns. Only its owner can
// read it.
func Write(path string, content []byte) error {
	if err := replace(path, content, (*os.File).Sync); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Replace is Write for a file that is made again at the next start: it replaces the file in one step, and leaves it to the system when it comes to
// the disk.
func Replace(path string, content []byte) error {
	return replace(path, content, func(*os.File) error { return nil })
}

// Sync brings the content of a file, or the names in a folder, to the disk.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func replace(path string, content []byte, sync func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name if all went well
	_, err = f.Write(content)
	if err == nil {
		err = sync(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
