package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

// Codes of JSON-RPC.
const (
	codeParse          = -32700
	codeInvalid        = -32600
	codeMethodNotFound = -32601
	codeParams         = -32602
)

// stateless is the first version of the protocol that has no sessions, and in which the status of an answer says what its error is.
const stateless = "2026-07-28"

// unbatched is the first version without batches.
const unbatched = "2025-06-18"

// listening is the method that opens a stream.
const listening = "subscriptions/listen"

// methods are those that are announced, and whether a call needs params. Every other one is unknown, also where the library would answer it.
var methods = map[string]bool{
	"initialize": true, "ping": false, "server/discover": false, listening: true, "tools/list": false, "tools/call": true,
	"resources/list": false, "resources/templates/list": false, "resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true,
}

// message is a request, a notification or an answer of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // nil for a notification
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// problem is an error of JSON-RPC.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// parse reads one message. The problem is why it is none that could be served; the message has its id then, as far as that can be told.
func parse(body []byte) (message, *problem) {
	var m message
	if !json.Valid(body) {
		return message{}, &problem{codeParse, "This is no JSON."}
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Version != "2.0" || m.Method == "" && m.Result == nil && m.Error == nil {
		return message{ID: m.id()}, &problem{codeInvalid, "This is no message of JSON-RPC 2.0."}
	}
	if m.ID != nil && m.id() == nil {
		return message{}, &problem{codeInvalid, "An id is a text or a number."}
	}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	needed, known := methods[m.Method]
	switch {
	case m.ID == nil || m.Method == "":
	case !known:
		return m, &problem{codeMethodNotFound, "There is no method " + m.Method + "."}
	case m.Params == nil && needed, m.Params != nil && m.Params[0] != '{':
		return m, &problem{codeParams, "The params of " + m.Method + " are an object."}
	}
	return m, nil
}

// id is that of a call, as it was sent; nil if there is none that a call may have.
func (m message) id() json.RawMessage {
	if len(m.ID) > 0 && (m.ID[0] == '"' || m.ID[0] == '-' || '0' <= m.ID[0] && m.ID[0] <= '9') {
		return m.ID
	}
	return nil
}

// tool is the name of the tool that a call is about.
func (m message) tool() string {
	var params struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.Params, &params) // the library refuses other params
	return params.Name
}

// version is the one that a request says.
func version(r *http.Request) string { return r.Header.Get("Mcp-Protocol-Version") }

// refuse answers with an error of JSON-RPC.
func (p *problem) refuse(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
	status := http.StatusBadRequest
	switch {
	case p.Code != codeMethodNotFound && p.Code != codeParams:
	case version(r) < stateless:
		status = http.StatusOK
	case p.Code == codeMethodNotFound:
		status = http.StatusNotFound
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *problem        `json:"error"`
	}{"2.0", id, p})
	if err != nil {
		panic(err) // the id was read as JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// renamed returns the message with a name of ours in place of its id, because the library reads a number as a float64, and a writer that puts the id
// back into the answer.
func (m message) renamed(w http.ResponseWriter) ([]byte, *restoring, error) {
	name := []byte(`"` + rand.Text() + `"`)
	back := &restoring{ResponseWriter: w, name: name, id: m.ID, begun: make(chan struct{})}
	m.ID = name
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false) // or it may grow beyond what the library takes
	err := e.Encode(m)
	return body.Bytes(), back, err
}

// restoring writes an id wherever a name is written. The library writes each message at once.
type restoring struct {
	http.ResponseWriter
	name, id []byte
	begun    chan struct{} // closed with the first message
	once     sync.Once
}

// Write sends a message that is a whole answer with its length and without delay. The gateway begins to answer its client with the first part that it
// reads, closes the request's body then, and may break off what it reads of ours if it was still looking for that body's end.
func (w *restoring) Write(p []byte) (int, error) {
	message := bytes.ReplaceAll(p, w.name, w.id)
	if w.Header().Get("Content-Type") == "application/json" {
		w.Header().Set("Content-Length", strconv.Itoa(len(message)))
	}
	_, err := w.ResponseWriter.Write(message)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	w.once.Do(func() { close(w.begun) })
	return len(p), err
}

// Unwrap is for streams, which are flushed.
func (w *restoring) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// kept is an answer in memory.
type kept struct {
	header http.Header
	bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(int) {}
