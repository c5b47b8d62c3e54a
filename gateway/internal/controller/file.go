package controller

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"frontdesk/proto"
)

// static fills the addresses into the template of Traefik's static configuration.
func (s Settings) static(text string) ([]byte, error) {
	t, err := template.New("traefik.yml").Funcs(template.FuncMap{"quote": strconv.Quote}).Parse(text)
	if err != nil {
		return nil, err
	}
	dynamic, err := filepath.Abs(s.dynamicFile())
	if err != nil {
		return nil, err
	}
	traces := ""
	if s.OTLP != "" {
		traces = strings.TrimSuffix(s.OTLP, "/") + "/v1/traces"
	}
	port := s.PublicURL.Port()
	if port == "" {
		port = "443"
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Listen": s.HTTPListen, "API": s.TraefikAPI, "Dynamic": dynamic, "Traces": traces, "TLS": s.TLS,
		"Host": s.PublicURL.Hostname(), "To": ":" + port, "Proxies": s.Proxies, "BodyWithin": proto.BodyWithin})
	return b.Bytes(), err
}

// replace puts content at path in one step: a reader sees the old file or the new one. The temporary file is in the gateway's
// folder, which is on the same volume and which Traefik does not watch.
func (s Settings) replace(path string, content []byte) error {
	f, err := os.CreateTemp(s.dir(), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(content); err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("gateway: write %s: %w", path, err)
	}
	return nil
}
