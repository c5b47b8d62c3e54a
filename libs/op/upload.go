package op

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"frontdesk/libs/fault"
)

// File is the input of an operation that takes one file: the request's body in a media type of Op.Accepts, or the only field
// of multipart/form-data, called file. The bytes are as they were sent: check them, whatever their type claims. Name is the file's
// name as the sender gave it, or empty.
type File struct {
	Name  string
	Bytes []byte
}

// Sent is the input of an operation that takes any body, whatever its media type, at a path with the parameter token. Bytes are the body as
// it was sent; Header is the request's header.
type Sent struct {
	Token  string      `json:"token" doc:"The unguessable end of the address."`
	Bytes  []byte      `json:"-"`
	Header http.Header `json:"-"`
}

// read fills s from the request. More than e.MaxBody bytes are 413.
func (s *Sent) read(e *Entry, r *request) (err error) {
	s.Token, s.Header = readable(r.http.PathValue("token")), r.http.Header
	if s.Bytes, err = io.ReadAll(http.MaxBytesReader(r.w, r.http.Body, e.MaxBody)); err != nil {
		return unreadable(e, "body", err)
	}
	return nil
}

// readable is a text of an address with U+FFFD in the place of bytes that PostgreSQL takes in no text: NUL, and what is no UTF-8. Nothing
// has such a name, so what is looked for by it is not there.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// aroundFile is what multipart/form-data may add to the bytes of its file.
const aroundFile = 8 << 10

// read fills f from the request. More than e.MaxBody bytes are 413, another media type is 415.
func (f *File) read(e *Entry, r *request) error {
	media, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	form := err == nil && media == "multipart/form-data"
	if err != nil || !form && !slices.Contains(e.Accepts, media) {
		return fault.New(http.StatusUnsupportedMediaType, "svc_unsupported_media_type", "Send the file as "+strings.Join(e.Accepts, ", ")+" or as the field file of multipart/form-data.")
	}
	limit := e.MaxBody
	if form {
		limit += aroundFile
	}
	body := http.MaxBytesReader(r.w, r.http.Body, limit)
	if form {
		return f.readForm(e, multipart.NewReader(body, params["boundary"]))
	}
	if _, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Disposition")); err == nil {
		f.Name = params["filename"]
	}
	return f.readBytes(e, body)
}

func (f *File) readForm(e *Entry, form *multipart.Reader) error {
	for seen := false; ; seen = true {
		part, err := form.NextPart()
		if err == io.EOF && seen {
			return nil
		}
		switch {
		case err == io.EOF:
			return fault.Invalid("file", fault.Required())
		case err != nil:
			return unreadable(e, "file", err)
		case part.FormName() != "file":
			return fault.Invalid(part.FormName(), fault.Unknown())
		case seen:
			return fault.Invalid("file", fault.Twice())
		}
		f.Name = part.FileName()
		if err := f.readBytes(e, part); err != nil {
			return err
		}
	}
}

func (f *File) readBytes(e *Entry, from io.Reader) (err error) {
	if f.Bytes, err = io.ReadAll(io.LimitReader(from, e.MaxBody+1)); err != nil {
		return unreadable(e, "file", err)
	}
	if int64(len(f.Bytes)) > e.MaxBody {
		return fault.TooLarge(e.MaxBody)
	}
	if len(f.Bytes) == 0 {
		return fault.Invalid("file", fault.Required())
	}
	return nil
}

func unreadable(e *Entry, part string, err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.TooLarge(e.MaxBody)
	}
	return fault.Invalid(part, fault.NewProblem("malformed", "could not be read to its end"))
}
