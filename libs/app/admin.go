package app

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"time"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// admin serves what operators need, on a port that must not be public: /livez, /readyz, /metrics,
// /parked (GET lists, POST /parked/{id}/replay), where it is switched on /debug/pprof/, and the service's own under /admin/.
func (r *runner) admin(cfg Config, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { r.door.answerReady(w) })
	mux.Handle("GET /metrics", metrics)
	if cfg.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	}
	mux.HandleFunc("GET /parked", func(w http.ResponseWriter, req *http.Request) {
		parked := []bus.Parked{}
		if r.door.isOpen() {
			var err error
			if parked, err = r.consumer.Parked(req.Context()); err != nil {
				op.WriteFault(req.Context(), err, w)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(db.All(parked))
	})
	mux.HandleFunc("POST /parked/{id}/replay", func(w http.ResponseWriter, req *http.Request) {
		id, err := strconv.ParseInt(req.PathValue("id"), 10, 64)
		if err != nil || !r.door.isOpen() {
			op.WriteFault(req.Context(), fault.NotFound("parked message"), w)
			return
		}
		if err := r.consumer.Replay(req.Context(), id); err != nil {
			op.WriteFault(req.Context(), err, w)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/admin/", func(w http.ResponseWriter, req *http.Request) {
		if !r.ready() || r.parts.Admin == nil {
			http.NotFound(w, req)
			return
		}
		r.parts.Admin.ServeHTTP(w, req)
	})
	return mux
}

// reachable returns a listen address as other hosts reach it. In place of all interfaces it has the address of this host on the way to
// the brokers, where the gateway is too. known is false while no broker's name leads anywhere; then it is the listen address.
func reachable(ctx context.Context, listen, brokers string) (address string, known bool) {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listen, true
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for broker := range strings.SplitSeq(brokers, ",") {
		c, err := new(net.Dialer).DialContext(ctx, "udp", broker) // sends nothing
		if err != nil {
			continue
		}
		defer c.Close()
		host, _, _ = net.SplitHostPort(c.LocalAddr().String())
		return net.JoinHostPort(host, port), true
	}
	return listen, false
}

// sendMessage writes a message that no transaction depends on.
func sendMessage(ctx context.Context, b *bus.Bus, topic, key string, m protobuf.Message) error {
	value, err := protobuf.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return b.Send(ctx, []db.Message{{Topic: topic, Key: key, Value: value}})
}
