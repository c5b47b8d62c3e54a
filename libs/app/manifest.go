package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/openapi"
	"frontdesk/libs/version"
	"frontdesk/proto"
)

// routesStay is for how long the gateway keeps the routes of a version after its last replica was seen: longer than a replica takes to start
// again.
const routesStay = 10 * time.Minute

// seenEvery is how often a replica says that its version runs.
var seenEvery = time.Minute

// announce publishes the manifest of the service: that of the newest of the versions that run, with the routes and pages that only others of
// them have, so that a replica of the version before takes no route away when it starts again.
func (r *runner) announce(ctx context.Context) error {
	describe := openapi.Manifest
	if r.Describe != nil {
		describe = r.Describe
	}
	own, err := describe(r.parts.Ops)
	if err != nil {
		return err
	}
	own.App, own.Pages = r.parts.App, r.parts.PagePaths
	body, err := protobuf.MarshalOptions{Deterministic: true}.Marshal(own)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	r.manifest.Store(&sum)
	return r.untilItWorks(ctx, "database", func() error {
		return r.kit.DB.Do(ctx, func(tx *db.Tx) error {
			// Replicas that announce at once do so one after the other from here on, so that the last one sees the versions of all.
			tick, err := tx.Tick(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `delete from manifest where seen_at < now() - $1::interval`, routesStay); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `insert into manifest (sum, body, number) values ($1, $2, string_to_array(split_part($3, '-', 1), '.')::int[])
				on conflict (sum) do update set seen_at = excluded.seen_at`, sum[:], body, version.Number); err != nil {
				return err
			}
			m, err := announced(ctx, tx)
			if err != nil {
				return err
			}
			m.Version, m.BaseUrl = tick, r.kit.Config.BaseURL
			return tx.EmitMessage(proto.ManifestTopic, r.Name, m)
		})
	})
}

// announced unites what the versions that run have announced.
func announced(ctx context.Context, tx *db.Tx) (*proto.Manifest, error) {
	bodies, err := db.Column[[]byte](ctx, tx, `select body from manifest order by number desc, made_at desc, sum`)
	if err != nil {
		return nil, err
	}
	all := make([]*proto.Manifest, len(bodies))
	for i, body := range bodies {
		all[i] = &proto.Manifest{}
		if err := protobuf.Unmarshal(body, all[i]); err != nil {
			return nil, fmt.Errorf("app: a manifest: %w", err)
		}
	}
	return unite(all), nil
}

// unite returns the first of manifests with the routes and pages of the others that it does not have.
func unite(manifests []*proto.Manifest) *proto.Manifest {
	m := manifests[0]
	routes, pages := map[string]bool{}, map[string]bool{}
	for i, o := range manifests {
		for _, route := range o.GetRoutes() {
			key := route.GetMethod() + " " + route.GetPath()
			if i > 0 && !routes[key] {
				m.Routes = append(m.Routes, route)
			}
			routes[key] = true
		}
		for _, page := range o.GetPages() {
			if i > 0 && !pages[page.GetPath()] {
				m.Pages = append(m.Pages, page)
			}
			pages[page.GetPath()] = true
		}
	}
	return m
}

// keepAnnounced says that this version runs, until ctx ends, and announces the service anew once another one is not seen any more.
func (r *runner) keepAnnounced(ctx context.Context) {
	tick := time.NewTicker(seenEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := r.stillAnnounced(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "the manifest cannot be kept", "error", err)
		}
	}
}

func (r *runner) stillAnnounced(ctx context.Context) error {
	var kept, others bool
	err := r.kit.DB.Pool.QueryRow(ctx, `with own as (update manifest set seen_at = now() where sum = $1 returning sum)
		select exists (select from own), exists (select from manifest where sum <> $1 and seen_at < now() - $2::interval)`, r.manifest.Load()[:], routesStay).Scan(&kept, &others)
	if err != nil || kept && !others {
		return err
	}
	return r.announce(ctx)
}
