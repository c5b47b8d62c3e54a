package contacts

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// lists are what the service has of the business: people and companies with their trash, what links and describes them, and what they agreed to.
var lists = []op.List{
	{Name: "contacts", Query: `select id, first_name, last_name, email, phone, status, marketing, marketing_updated_at, source, owner_user_id, tags, fields, last_activity, created_at, updated_at, deleted_at from contact order by created_at, id`},
	{Name: "organizations", Query: `select id, name, vat_number, email, phone, website, address_line, postal_code, city, country, owner_user_id, fields, last_activity, created_at, updated_at, deleted_at from organization order by created_at, id`},
	{Name: "contact-organizations", Query: `select contact_id, organization_id, role, is_primary, created_at from contact_organization order by created_at, contact_id, organization_id`},
	{Name: "activities", Query: `select id, contact_id, organization_id, type, subject, body, data, channel, actor_label, user_id, pinned, created_at, edited_at from activity order by created_at, id`},
	{Name: "consents", Query: `select id, contact_id, purpose, text, verified, created_at from consent order by created_at, id`},
	{Name: "tasks", Query: `select id, title, body, due_on, owner_user_id, contact_id, organization_id, appointment_id, done_at, created_at, updated_at from task order by created_at, id`},
	{Name: "tags", Query: `select slug, name, created_at from tag order by slug`},
	{Name: "field-groups", Query: `select id, entity, label, sort_order, created_at from field_group order by entity, sort_order, id`},
	{Name: "fields", Query: `select id, entity, key, label, type, options, group_id, sort_order, source, show_in_list, archived, created_at from field order by entity, sort_order, id`},
	{Name: "imports", Query: `select id, user_id, file_name, status, rows, created, updated, skipped, failed, created_at, finished_at from import order by created_at, id`},
}

func takeout(set *op.Set) {
	op.AddTakeout(set, op.Op{ID: "export-all-of-contacts", Route: "GET /exports/contacts.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export contacts, organizations, their links, timelines and consents, tasks, tags, custom fields and imports as a zip file, with what is in the trash."}, lists...)
}
