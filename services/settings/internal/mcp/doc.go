// Package mcp serves the Model Context Protocol at /mcp: what assistants may do here, as tools.
//
// It is an edge adapter. It authenticates the caller only to show what they may do; every tool calls the API through the gateway
// with the caller's own credential, and the service that owns the ability decides. So it holds no right of its own.
//
// Any replica answers any request. A session is a signed number that binds requests to one credential and holds no state, so a
// client may also go without one. Streams, which carry notifications of changed tools, live in the replica that opened them.
package mcp
