package world

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"frontdesk/deploy/client"
)

// Caller calls an API for throughput. It shares the processors with what it measures, so it does without http.Client, whose goroutines and
// headers cost three times as much: it writes the request and reads the answer on the goroutine of the call. It may be called from
// many goroutines.
type Caller struct {
	host   string
	header string
	idle   chan *line // nil for a connection that is not open
}

// line is a connection. It stays open between calls.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// NewCaller calls the API at base as its user. It opens a connection for each call at once, up to so many.
func NewCaller(as client.API, base string, connections int) (*Caller, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	c := &Caller{host: u.Host, idle: make(chan *line, connections)}
	req, err := http.NewRequest(http.MethodGet, base, nil)
	if err != nil {
		return nil, err
	}
	c.header = " HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	if as.Password != "" {
		req.SetBasicAuth(as.Login, as.Password)
		c.header += "Authorization: " + req.Header.Get("Authorization") + "\r\n"
	}
	for range connections {
		c.idle <- nil
	}
	return c, nil
}

// Call sends body as JSON unless it is nil, and returns the status. A status of 300 and more is an error, except 409. path
// begins with /v1.
func (c *Caller) Call(method, path string, body []byte) (status int, err error) {
	l := <-c.idle
	defer func() {
		if err != nil && l != nil {
			_ = l.conn.Close()
			l = nil
		}
		c.idle <- l
	}()
	if l == nil {
		conn, err := net.Dial("tcp", c.host)
		if err != nil {
			return 0, err
		}
		l = &line{conn: conn, in: bufio.NewReader(conn)}
	}
	l.out = append(append(append(append(l.out[:0], method...), ' '), path...), c.header...)
	if body != nil {
		l.out = append(l.out, "Content-Type: application/json\r\nContent-Length: "...)
		l.out = append(strconv.AppendInt(l.out, int64(len(body)), 10), "\r\n"...)
	}
	l.out = append(append(l.out, "\r\n"...), body...)
	if _, err := l.conn.Write(l.out); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode < 300 || res.StatusCode == http.StatusConflict {
		_, err = io.Copy(io.Discard, res.Body)
		return res.StatusCode, err
	}
	answer, err := io.ReadAll(res.Body)
	if err == nil {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, answer)
	}
	return res.StatusCode, err
}

// Close closes the connections. No call may be under way.
func (c *Caller) Close() {
	for range cap(c.idle) {
		if l := <-c.idle; l != nil {
			_ = l.conn.Close()
		}
	}
}
