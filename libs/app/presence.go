package app

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/trust"
	"frontdesk/libs/version"
	"frontdesk/proto"
)

// applied is called, by one goroutine at a time, when a version of settings.apps is in force in this process.
func (r *runner) applied(version int64) {
	select {
	case <-r.version: // nobody has taken the older one
	default:
	}
	r.version <- version
}

// presence publishes every two seconds, and at once after an app was switched, that this instance runs.
func (r *runner) presence(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	var applied int64
	var admin string
	var signature []byte
	known := false
	for {
		if !known {
			admin, signature, known = r.adminAddress(ctx)
		}
		m := &proto.Presence{Instance: r.instance, Service: r.Name, At: timestamppb.Now(), AppsVersion: applied, Version: version.String(),
			AdminUrl: admin, AdminSignature: signature}
		if err := sendMessage(ctx, r.kit.Bus, proto.PresenceTopic, r.instance, m); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "publishing the presence failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case applied = <-r.version:
		case <-tick.C:
		}
	}
}

// adminAddress is where other hosts reach the admin port, and its signature. known is false while no broker tells which address this host has.
func (r *runner) adminAddress(ctx context.Context) (address string, signature []byte, known bool) {
	address, known = r.kit.Config.AdminURL, true
	if address == "" {
		address, known = reachable(ctx, r.kit.Config.AdminListen, r.kit.Config.Brokers)
		address = "http://" + address
	}
	signature, err := r.kit.Bus.Trust.Sign(trust.Message{Topic: proto.PresenceTopic, Key: r.instance, Value: []byte(address), Stamp: time.Now().UnixMicro()})
	if err != nil {
		slog.ErrorContext(ctx, "the page for operators does not show this instance", "error", err)
	}
	return address, signature, known
}
