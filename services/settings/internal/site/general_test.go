package site

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyHeadersOfProxiesBeforeTheGatewayAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		sent map[string]string
		seen []string
	}{
		"the gateway alone":                   {map[string]string{"X-Forwarded-For": "203.0.113.7", "X-Real-Ip": "203.0.113.7"}, []string{}},
		"the gateway alone, IPv6":             {map[string]string{"X-Forwarded-For": "2001:db8::7", "X-Real-Ip": "2001:db8::7"}, []string{}},
		"a proxy that appends":                {map[string]string{"X-Forwarded-For": "203.0.113.7, 10.0.0.1", "X-Real-Ip": "10.0.0.1"}, []string{"X-Forwarded-For"}},
		"a proxy that names the visitor":      {map[string]string{"X-Forwarded-For": "10.0.0.1", "X-Real-Ip": "203.0.113.7"}, []string{"X-Real-IP"}},
		"a proxy with a header of its own":    {map[string]string{"X-Forwarded-For": "10.0.0.1", "X-Real-Ip": "10.0.0.1", "Cf-Connecting-Ip": "203.0.113.7"}, []string{"CF-Connecting-IP"}},
		"a header without a value":            {map[string]string{"X-Forwarded-For": "10.0.0.1", "True-Client-Ip": ""}, []string{}},
		"no gateway, as in a test of its own": {nil, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for name, value := range c.sent {
				h.Set(name, value)
			}
			require.Equal(t, c.seen, seenIPHeaders(h))
		})
	}
}
