package mailsink

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
)

// Mail is a mail as the page and the JSON API show it.
type Mail struct {
	ID          string              `json:"id"`
	ReceivedAt  time.Time           `json:"received_at"`
	From        string              `json:"from"`
	To          []string            `json:"to"` // the envelope's recipients
	Subject     string              `json:"subject"`
	Text        string              `json:"text"`
	HTML        string              `json:"html"`
	Headers     map[string][]string `json:"headers"`
	Attachments []Attachment        `json:"attachments"`
}

// Attachment is any part that is not the text of the mail, calendar files included.
type Attachment struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	content     []byte
}

var words = mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

// parse never fails: a broken mail is shown as its text.
func parse(raw []byte) Mail {
	m := Mail{Attachments: []Attachment{}, Headers: map[string][]string{}}
	msg, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		m.Text = string(raw)
		return m
	}
	m.Headers = msg.Header
	m.Subject = decode(msg.Header.Get("Subject"))
	m.From = decode(msg.Header.Get("From"))
	m.read(header(msg.Header), msg.Body)
	return m
}

type header map[string][]string

func (h header) get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// read adds one part, or all parts of a multipart: the first plain text, the first HTML, and the rest as attachments.
func (m *Mail) read(h header, body io.Reader) {
	kind, params, err := mime.ParseMediaType(h.get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		for r := multipart.NewReader(body, params["boundary"]); ; {
			p, err := r.NextRawPart()
			if err != nil {
				return
			}
			m.read(header(p.Header), p)
		}
	}
	switch strings.ToLower(h.get("Content-Transfer-Encoding")) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	content, _ := io.ReadAll(body)
	disposition, dispositionParams, _ := mime.ParseMediaType(h.get("Content-Disposition"))
	switch {
	case disposition != "attachment" && kind == "text/plain" && m.Text == "":
		m.Text = utf8(content, params["charset"])
	case disposition != "attachment" && kind == "text/html" && m.HTML == "":
		m.HTML = utf8(content, params["charset"])
	default:
		name := dispositionParams["filename"]
		if name == "" {
			name = params["name"]
		}
		if name = decode(name); name == "" {
			name = "unnamed"
		}
		m.Attachments = append(m.Attachments, Attachment{Name: name, ContentType: h.get("Content-Type"), Size: len(content), content: content})
	}
}

func decode(s string) string {
	if d, err := words.DecodeHeader(s); err == nil {
		return d
	}
	return s
}

func utf8(content []byte, label string) string {
	if label == "" {
		return string(content)
	}
	r, err := charset.NewReaderLabel(label, bytes.NewReader(content))
	if err != nil {
		return string(content)
	}
	b, _ := io.ReadAll(r)
	return string(b)
}
