package undo

import (
	"context"
	"fmt"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// workSession is what somebody did within an hour.
type workSession struct {
	Actor      worker    `json:"actor" doc:"Who did it."`
	Connection *string   `json:"connection" nullable:"true" doc:"The name of the program that was connected; null for a person and for an application password."`
	From       time.Time `json:"from" doc:"When the first call was made."`
	To         time.Time `json:"to" doc:"Right behind the last call: from and to are those of POST /undo."`
	Calls      int       `json:"calls" doc:"How many calls changed something or are in the audit log."`
}

// worker is who makes calls.
type worker struct {
	Kind   string  `json:"kind" enum:"person,key,assistant" doc:"A person in a browser, an application password of a program, or an assistant."`
	Name   string  `json:"name" doc:"The name of the person, key or assistant."`
	UserID int64   `json:"user_id" doc:"The user id of the person, or of who has made the key or connected the assistant."`
	ID     *string `json:"id" nullable:"true" doc:"The id of the application password or the connection; null for a person."`
}

// sessions lists what was done in the time in which it can be taken back.
func sessions(ctx context.Context, tx *db.Tx, _ op.None) (db.List[workSession], error) {
	type found struct {
		Kind, Name string
		UserID     int64
		Credential *string
		Connection *string
		First      time.Time
		Last       time.Time
		Calls      int
	}
	rows, err := db.Rows[found](ctx, tx, `
		select case when w.credential is null then 'person' when c.id is not null or p.assistant or w.channel = 'ability' and p.id is null then 'assistant' else 'key' end as kind,
			w.name, w.user_id, w.credential, c.name as connection, w.first, w.last, w.calls
		from (select user_id, credential, (array_agg(actor_label order by id desc))[1] as name, (array_agg(channel order by id desc))[1] as channel,
				min(created_at) as first, max(created_at) as last, count(*)::int as calls
			from audit where created_at >= $1 and outcome = 'done' and user_id is not null and undoes is null and action <> $2
			group by user_id, credential, date_trunc('hour', created_at) order by last desc limit 200) w
		left join connection c on c.id::text = w.credential left join application_password p on p.id::text = w.credential
		order by w.last desc, w.user_id, w.credential`, tx.Now.AddDate(0, 0, -db.DeedsKept), undoing)
	if err != nil {
		return db.List[workSession]{}, fmt.Errorf("list sessions of work: %w", err)
	}
	all := make([]workSession, len(rows))
	for i, f := range rows {
		all[i] = workSession{worker{f.Kind, f.Name, f.UserID, f.Credential}, f.Connection, f.First, f.Last.Add(time.Second), f.Calls}
	}
	return db.All(all), nil
}
