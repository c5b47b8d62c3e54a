package media

import (
	"context"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// Room keeps pictures.
type Room struct {
	*app.Kit
	// logo locks the settings that name the logo, and answers with the id of its picture; nil for none.
	logo func(ctx context.Context, tx *db.Tx) (*int64, error)
	// decoders is full while as many pictures are decoded as memory allows.
	decoders chan struct{}
}

func New(k *app.Kit, logo func(ctx context.Context, tx *db.Tx) (*int64, error)) *Room {
	return &Room{k, logo, make(chan struct{}, decoders)}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"media": app.Nobody}}}
}

// Operations declares the operations on pictures.
func (r *Room) Operations(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "upload-media", Undo: op.Undo{Never: op.ByHand}, Route: "POST /media", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "media", Accepts: pictureTypes,
		Doc:   "Upload a picture, such as the logo: PNG, JPEG or WebP, at most 1 MiB and 8 million pixels. It is encoded anew, at most 1024 pixels wide and high.",
		Fails: op.Fails{"svc_conflict too_many": "The site has 200 pictures, which is the most."}}, r.upload)
	op.Add(set, op.Op{ID: "list-media", Route: "GET /media", Perm: auth.ManageCRM, Doc: "List the site's pictures, newest first.",
		Use: "Use it to find the id for logo_id of update-portal-settings. Only a person or a program can upload one."}, r.list)
	op.Add(set, op.Op{ID: "get-media", Route: "GET /media/{id}", Perm: auth.ManageCRM, Doc: "Get a picture's public address and size.",
		Use: "Answers with url, which everybody can open."}, r.get)
	op.Add(set, op.Op{ID: "delete-media", Undo: op.Undo{Never: op.ForGood}, Route: "DELETE /media/{id}", Perm: auth.ManageCRM, Record: "media",
		Doc:   "Delete a picture. Its address stops working.",
		Use:   "It cannot be brought back. The logo cannot be deleted: set logo_id to null or another picture first.",
		Fails: op.Fails{"svc_conflict in_use": "The picture is the logo."}}, r.remove)
}
