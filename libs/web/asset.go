package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"path"
	"regexp"
	"strings"
)

// own is the folder of this package.
//
//go:embed css/*.css css/favicon.svg icon/*.svg icon/LICENSE text/*.json page/*.html page/text/*.json all:dist
var own embed.FS

type asset struct {
	// body opens the content. It stays in the program's file, which the kernel drops from memory where nothing asks for it.
	body open
	// brotli is body as the build compressed it; nil if it did not.
	brotli open
	kind   string
	hash   string
}

// open returns a file from its begin.
type open func() io.ReadSeeker

func fileOf(folder fs.FS, name string) open {
	return func() io.ReadSeeker {
		f, err := folder.Open(name)
		if err != nil {
			panic(err) // it was there when the process started
		}
		return f.(io.ReadSeeker) // files of embed.FS hold nothing that would have to be closed
	}
}

// hashed names never change their content: all below assets/, and those with a hash of esbuild's.
var hashed = regexp.MustCompile(`^assets/|-[A-Z0-9]{8}\.[a-z0-9]+$`)

// readAssets reads dist and css of each folder. A file of a later folder wins.
func readAssets(folders ...fs.FS) map[string]asset {
	all := map[string]asset{}
	for _, folder := range folders {
		for _, root := range []string{"dist", "css"} {
			_ = fs.WalkDir(folder, root, func(name string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || path.Base(name) == ".gitkeep" {
					return nil //nolint:nilerr // a folder without css or dist has none
				}
				body := fileOf(folder, name)
				// A directory lists a file before its compressed one.
				if name, compressed := strings.CutSuffix(strings.TrimPrefix(name, root+"/"), ".br"); compressed {
					a := all[name]
					a.brotli = body
					all[name] = a
				} else {
					all[name] = asset{body: body, kind: kindOf(name), hash: hashOf(body)}
				}
				return nil
			})
		}
	}
	nameFonts(all, "page.css")
	return all
}

// nameFonts writes the addresses that pages preload into a style sheet, so that a browser loads each font once.
func nameFonts(all map[string]asset, sheet string) {
	a := all[sheet]
	text, err := io.ReadAll(a.body())
	if err != nil {
		panic(err)
	}
	text = fontURL.ReplaceAllFunc(text, func(m []byte) []byte {
		name := string(fontURL.FindSubmatch(m)[1])
		if f, ok := all[name]; ok {
			return []byte(`url("` + name + "?v=" + f.hash + `")`)
		}
		return m
	})
	a.body = func() io.ReadSeeker { return bytes.NewReader(text) }
	a.hash = hashOf(a.body)
	all[sheet] = a
}

var fontURL = regexp.MustCompile(`url\("(font/[a-z]+\.woff2)"\)`)

func hashOf(body open) string {
	sum := sha256.New()
	if _, err := io.Copy(sum, body()); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:9])
}

func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".css":
		return "text/css; charset=utf-8"
	}
	return cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
}

// icon is one of the icons of libs/web/icon as inline SVG, hidden from screen readers; "" for an unknown name.
func icon(name string) template.HTML {
	svg, err := fs.ReadFile(own, "icon/"+name+".svg")
	if err != nil || strings.ContainsAny(name, "/.") {
		return ""
	}
	return template.HTML(svg) //nolint:gosec // our own file
}
