package caldav

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// Put writes an event: the file of one UID, at an address that a calendar and the UID make. etag is that of the version that it replaces, and empty for
// a new event. It returns the ETag of what is there then, which is empty if the server does not say. The error is ErrChanged if another version is
// there, or one where none should be.
func (c *Client) Put(ctx context.Context, calendar, uid, etag string, file []byte) (string, error) {
	condition := map[string]string{"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
	if etag != "" {
		delete(condition, "If-None-Match")
		condition["If-Match"] = etag
	}
	at, err := eventAt(calendar, uid)
	if err != nil {
		return "", err
	}
	a, err := c.do(ctx, http.MethodPut, at, string(file), condition)
	if err != nil {
		return "", err
	}
	return a.header.Get("ETag"), nil
}

// Delete removes an event whose version is that of etag. It is nil if the event is gone already.
func (c *Client) Delete(ctx context.Context, calendar, uid, etag string) error {
	at, err := eventAt(calendar, uid)
	if err != nil {
		return err
	}
	if _, err = c.do(ctx, http.MethodDelete, at, "", map[string]string{"If-Match": etag}); errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// ETag returns that of an event; empty if the server has no such event.
func (c *Client) ETag(ctx context.Context, calendar, uid string) (string, error) {
	at, err := eventAt(calendar, uid)
	if err != nil {
		return "", err
	}
	l, err := c.ask(ctx, "PROPFIND", at, "0", `<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>`)
	if errors.Is(err, ErrMissing) {
		return "", nil
	}
	return l.one().ETag, err
}

func eventAt(calendar, uid string) (string, error) {
	return url.JoinPath(calendar, url.PathEscape(uid)+".ics")
}
