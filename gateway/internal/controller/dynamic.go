package controller

// These types are the part of Traefik's dynamic configuration that the controller writes, field for field as Traefik's file
// provider reads it: it refuses a file with an unknown key. They stand here because Traefik's own package brings Kubernetes'
// client, gRPC and an ACME client into the process, and an older OpenTelemetry than the rest of this repository.

// Configuration is one whole dynamic configuration.
type Configuration struct {
	HTTP HTTP       `json:"http"`
	TLS  *TLSStores `json:"tls,omitempty"`
	// Hash names the configuration; Traefik answers at MarkerPath(Hash) while it serves it.
	Hash string `json:"-"`

	entryPoints []string
	// paths are the paths of the API with their methods, for the controller's own answers.
	paths []accepted
}

// TLSStores holds the certificate for every host.
type TLSStores struct {
	Stores  map[string]TLSStore  `json:"stores,omitempty"`
	Options map[string]TLSOption `json:"options"`
}

// TLSStore has a certificate for whoever asks for no other.
type TLSStore struct {
	DefaultCertificate Certificate `json:"defaultCertificate"`
}

// TLSOption is what connections have to fulfil.
type TLSOption struct {
	MinVersion string `json:"minVersion"`
}

// Certificate is in two files, which Traefik reads whenever the configuration changes.
type Certificate struct {
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`

	digest string
}

// HTTP holds everything by name.
type HTTP struct {
	Routers           map[string]Router           `json:"routers"`
	Middlewares       map[string]Middleware       `json:"middlewares"`
	Services          map[string]Service          `json:"services"`
	ServersTransports map[string]ServersTransport `json:"serversTransports"`
}

// Router sends the requests that its rule matches through middlewares to a service.
type Router struct {
	EntryPoints   []string       `json:"entryPoints"`
	Rule          string         `json:"rule"`
	Priority      int            `json:"priority"`
	Middlewares   []string       `json:"middlewares,omitempty"`
	Service       string         `json:"service"`
	Observability *Observability `json:"observability,omitempty"`
}

// Observability says what is recorded of a router's requests.
type Observability struct {
	AccessLogs bool `json:"accessLogs"`
	Metrics    bool `json:"metrics"`
	Tracing    bool `json:"tracing"`
}

// Service is a set of equal servers, or one service that stands in for another: exactly one of its fields.
type Service struct {
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
	Failover     *Failover     `json:"failover,omitempty"`
}

// Failover is a service while one of its servers is healthy, and the fallback otherwise.
type Failover struct {
	Service  string `json:"service"`
	Fallback string `json:"fallback"`
}

// LoadBalancer takes its healthy servers in turn.
type LoadBalancer struct {
	Servers            []Server            `json:"servers"`
	ServersTransport   string              `json:"serversTransport"`
	HealthCheck        *HealthCheck        `json:"healthCheck,omitempty"`
	ResponseForwarding *ResponseForwarding `json:"responseForwarding,omitempty"`
}

// HealthCheck asks each server at a path whether it is healthy.
type HealthCheck struct {
	Path              string `json:"path"`
	Interval          string `json:"interval"`
	UnhealthyInterval string `json:"unhealthyInterval"`
	Timeout           string `json:"timeout"`
}

// Server is the base URL of one replica. With PreservePath the path of the URL stands before those of requests.
type Server struct {
	URL          string `json:"url"`
	PreservePath bool   `json:"preservePath,omitempty"`
}

// ResponseForwarding with a negative interval flushes after every write.
type ResponseForwarding struct {
	FlushInterval string `json:"flushInterval"`
}

// Middleware is exactly one of its fields.
type Middleware struct {
	Headers     *Headers     `json:"headers,omitempty"`
	Compress    *Compress    `json:"compress,omitempty"`
	Errors      *Errors      `json:"errors,omitempty"`
	AddPrefix   *AddPrefix   `json:"addPrefix,omitempty"`
	ReplacePath *ReplacePath `json:"replacePath,omitempty"`
	Retry       *Retry       `json:"retry,omitempty"`
	Buffering   *Buffering   `json:"buffering,omitempty"`
}

// Headers sets headers, or removes those with an empty value, and answers CORS.
type Headers struct {
	CustomRequestHeaders         map[string]string `json:"customRequestHeaders,omitempty"`
	CustomResponseHeaders        map[string]string `json:"customResponseHeaders,omitempty"`
	AccessControlAllowOriginList []string          `json:"accessControlAllowOriginList,omitempty"`
	AccessControlAllowMethods    []string          `json:"accessControlAllowMethods,omitempty"`
	AccessControlAllowHeaders    []string          `json:"accessControlAllowHeaders,omitempty"`
	AccessControlExposeHeaders   []string          `json:"accessControlExposeHeaders,omitempty"`
	AccessControlMaxAge          int               `json:"accessControlMaxAge,omitempty"`
}

// Compress compresses answers of the named types.
type Compress struct {
	IncludedContentTypes []string `json:"includedContentTypes"`
	Encodings            []string `json:"encodings"`
}

// Errors replaces answers of the given statuses by those of another service.
type Errors struct {
	Status         []string       `json:"status"`
	StatusRewrites map[string]int `json:"statusRewrites,omitempty"`
	Service        string         `json:"service"`
	Query          string         `json:"query"`
}

// AddPrefix puts a prefix before the path.
type AddPrefix struct {
	Prefix string `json:"prefix"`
}

// ReplacePath sends everything to one path.
type ReplacePath struct {
	Path string `json:"path"`
}

// Retry sends a request that reached no server to the next one, so many times altogether.
type Retry struct {
	Attempts        int    `json:"attempts"`
	InitialInterval string `json:"initialInterval"`
}

// Buffering keeps a whole request and its answer, so that it can be repeated while RetryExpression holds for the answer. A longer body than
// MaxRequestBodyBytes is refused with 413, also one that does not say its length.
type Buffering struct {
	MaxRequestBodyBytes int64  `json:"maxRequestBodyBytes"`
	RetryExpression     string `json:"retryExpression,omitempty"`
}

// ServersTransport is how Traefik reaches servers.
type ServersTransport struct {
	MaxIdleConnsPerHost int                `json:"maxIdleConnsPerHost"`
	ForwardingTimeouts  ForwardingTimeouts `json:"forwardingTimeouts"`
}

// ForwardingTimeouts are durations such as "2s".
type ForwardingTimeouts struct {
	DialTimeout           string `json:"dialTimeout"`
	ResponseHeaderTimeout string `json:"responseHeaderTimeout"`
	IdleConnTimeout       string `json:"idleConnTimeout"`
}
