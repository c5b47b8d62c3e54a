package document

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Keys of the documents. All but apps and setup are published on settings.site.
const (
	General   = "general"
	Portal    = "portal"
	Privacy   = "privacy"
	FormStyle = "form-style"
	Telemetry = "telemetry"
	APIAccess = "api-access"
	Apps      = "apps"
	Setup     = "setup"
	// Assistants is read by every service, see app.Site.Exposed.
	Assistants = app.AssistantsKey
)

// Stamp is the version of a record in an answer that shows it.
type Stamp struct{ version int64 }

// At is the stamp of a version.
func At(version int64) Stamp { return Stamp{version} }

// RecordVersion is the answer's ETag.
func (s Stamp) RecordVersion() int64 { return s.version }

// Read decodes the document under key into v.
func Read(ctx context.Context, tx *db.Tx, key string, v any) (version int64, err error) {
	return query(ctx, tx, `select doc, version from document where key = $1`, key, v)
}

// Lock is Read for a change: it locks the document until the transaction ends.
func Lock(ctx context.Context, tx *db.Tx, key string, v any) (version int64, err error) {
	return query(ctx, tx, `select doc, version from document where key = $1 for update`, key, v)
}

func query(ctx context.Context, tx *db.Tx, sql, key string, v any) (version int64, err error) {
	var raw []byte
	if err := tx.QueryRow(ctx, sql, key).Scan(&raw, &version); err != nil {
		return 0, fmt.Errorf("read document %s: %w", key, err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return 0, fmt.Errorf("decode document %s: %w", key, err)
	}
	return version, nil
}

// write stores a document that Lock has locked, and answers with its new version.
func write(ctx context.Context, tx *db.Tx, key string, v any) (version int64, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("encode document %s: %w", key, err)
	}
	var before []byte
	err = tx.QueryRow(ctx, `update document d set doc = $2, version = d.version + 1, updated_at = $3 from document before
		where d.key = $1 and before.key = d.key returning d.version, before.doc`, key, raw, tx.Now).Scan(&version, &before)
	if err != nil {
		return 0, fmt.Errorf("write document %s: %w", key, err)
	}
	return version, tx.ChangedFrom(json.RawMessage(before), json.RawMessage(raw))
}

// Change locks the document under key, compares its version with the one that the caller has seen, and lets edit change it. What differs then is stored and
// published; publish is nil for a document that is not. An error of edit is that of Change.
func Change[T any](ctx context.Context, tx *db.Tx, key string, publish Publisher, edit func(*T) error) (doc T, version int64, err error) {
	if version, err = Lock(ctx, tx, key, &doc); err != nil {
		return doc, 0, err
	}
	if err := tx.Match(version); err != nil {
		return doc, 0, err
	}
	before, err := json.Marshal(doc)
	if err != nil {
		return doc, 0, fmt.Errorf("encode document %s: %w", key, err)
	}
	if err := edit(&doc); err != nil {
		return doc, 0, err
	}
	changed := Differences(json.RawMessage(before), doc)
	if len(changed) == 0 {
		return doc, version, nil
	}
	if version, err = write(ctx, tx, key, doc); err != nil || publish == nil {
		return doc, version, err
	}
	return doc, version, publish(ctx, tx, changed)
}

// Publish publishes a document in the shape that other services read. changed names its top-level keys that differ
// from the version before.
func Publish(ctx context.Context, tx *db.Tx, key string, version int64, changed []string, v any) error {
	return tx.Emit(ctx, db.Event{Topic: proto.SiteTopic, Kind: proto.KindSiteUpdated, Key: key, Version: version, Changed: changed, Data: v})
}

// Differences names the top-level keys in which two documents of one type differ, sorted.
func Differences(a, b any) []string {
	var x, y map[string]json.RawMessage
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	_ = json.Unmarshal(left, &x)
	_ = json.Unmarshal(right, &y)
	both := maps.Clone(x)
	maps.Copy(both, y)
	return slices.Sorted(func(yield func(string) bool) {
		for name := range both {
			if string(x[name]) != string(y[name]) && !yield(name) {
				return
			}
		}
	})
}

// Publisher publishes a document, which is locked. changed names the fields that differ from the version before.
type Publisher func(ctx context.Context, tx *db.Tx, changed []string) error

// Record declares the record of a topic that is a document, under the document's key. lock is the document that is locked first.
func Record(topic, key, lock string, publish Publisher) app.Published {
	return app.OneRecord(topic, key, again(lock, publish), func(ctx context.Context, tx *db.Tx, version int64) (int, error) {
		tag, err := tx.Exec(ctx, `update document set version = $2 + 1 where key = $1 and version < $2`, key, version)
		return int(tag.RowsAffected()), err
	})
}

// SumRecord declares a record whose version is the sum of those of two documents. first is locked first.
func SumRecord(topic, key, first, second string, publish Publisher) app.Published {
	return app.OneRecord(topic, key, again(first, publish), func(ctx context.Context, tx *db.Tx, version int64) (int, error) {
		tag, err := tx.Exec(ctx, `update document a set version = $3 + 1 - p.version from document p
			where a.key = $1 and p.key = $2 and a.version + p.version < $3`, second, first, version)
		return int(tag.RowsAffected()), err
	})
}

// again locks a document, and publishes it as it is.
func again(lock string, publish Publisher) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		if err := LockKey(ctx, tx, lock); err != nil {
			return err
		}
		return publish(ctx, tx, nil)
	}
}

// LockKey locks a document, whatever it says.
func LockKey(ctx context.Context, tx *db.Tx, key string) error {
	if _, err := tx.Exec(ctx, `select from document where key = $1 for update`, key); err != nil {
		return fmt.Errorf("lock document %s: %w", key, err)
	}
	return nil
}

// Add adds those of the documents that are not there yet.
func Add(ctx context.Context, tx *db.Tx, first map[string]any) error {
	for key, doc := range first {
		_, err := tx.Exec(ctx, `insert into document (key, doc, updated_at) values ($1, $2, $3) on conflict (key) do nothing`, key, doc, tx.Now)
		if err != nil {
			return err
		}
	}
	return nil
}

// Room keeps documents.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (*Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"document": app.Nobody}}}
}
