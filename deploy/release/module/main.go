// Module writes a folder as a version of a Go module, in the files that a module proxy serves: GOPROXY=file://FOLDER reads them.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	path, version := flag.String("path", "", "the path of the module"), flag.String("version", "", "its version, such as v1.2.3")
	from, to := flag.String("from", "", "the folder with its files"), flag.String("to", "", "the folder of the proxy")
	flag.Parse()
	if err := write(module.Version{Path: *path, Version: *version}, *from, *to); err != nil {
		log.Fatal(err)
	}
}

func write(m module.Version, from, to string) error {
	folder := filepath.Join(to, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := zip.CreateFromDir(&packed, m, from); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": m.Version})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{m.Version + ".zip": packed.Bytes(), m.Version + ".mod": mod, m.Version + ".info": info, "list": []byte(m.Version + "\n")} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
