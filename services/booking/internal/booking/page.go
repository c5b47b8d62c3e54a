package booking

import (
	"context"
	"strconv"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func onPage(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindPageDeleted {
		_, err = tx.Exec(ctx, `delete from page where id = $1`, id)
		return err
	}
	var p struct {
		Title   string `json:"title"`
		Slug    string `json:"slug"`
		Status  string `json:"status"`
		Content string `json:"content"`
		URL     string `json:"url"`
		EditURL string `json:"edit_url"`
	}
	if err := e.Decode(&p); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into page as p (id, version, title, slug, status, content, url) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (id) do update set version = excluded.version, title = excluded.title, slug = excluded.slug, status = excluded.status,
			content = excluded.content, url = excluded.url where p.version < $8`,
		id, e.Version, p.Title, p.Slug, p.Status, p.Content, p.URL, e.ReplacesBelow())
	if err != nil || e.Extra == nil {
		return err
	}
	var x proto.PageEmbedded
	if err := e.DecodeExtra(&x); err != nil || x.GetRequestId() == "" {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from embedding where at < now() - interval '1 hour'`); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into embedding (request_id, page_id, status, edit_url, created, at) values ($1::uuid, $2, $3, $4, $5, now())
		on conflict do nothing`, x.GetRequestId(), id, p.Status, p.EditURL, x.GetCreated())
	return err
}
