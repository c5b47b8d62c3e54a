// Pack writes the plugin as the file that WordPress installs: pack FOLDER FILE.zip. The bytes depend on the files only.
package main

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("pack FOLDER FILE.zip")
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func pack(folder, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	files := os.DirFS(folder)
	// In the order of names.
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: path.Join(filepath.Base(folder), name), Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o644)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		return fmt.Errorf("pack %s: %w", folder, err)
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Close()
}
