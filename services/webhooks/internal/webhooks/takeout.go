package webhooks

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// lists are what the service has of the business: receivers without their secrets, and what was sent to them.
var lists = []op.List{
	{Name: "webhooks", Query: `select id, name, url, events, only_for, format, active, paused, created_at, updated_at from webhook order by created_at, id`},
	{Name: "deliveries", Query: `select d.id, d.webhook, m.event, d.record, d.status, d.attempts, d.response_code, d.error, d.created_at, d.delivered_at from delivery d join message m on m.id = d.message order by d.created_at, d.id`},
}

func takeout(set *op.Set) {
	op.AddTakeout(set, op.Op{ID: "export-all-of-webhooks", Route: "GET /exports/webhooks.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export webhooks and deliveries as a zip file, without secrets."}, lists...)
}
