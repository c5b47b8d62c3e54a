// Package contacts puts the service together of its rooms: people and organizations, what links them, their timelines, custom fields, consents
// and marketing, imports and exports.
//
// Locks are taken in one order: imports; addresses (contact.LockAddresses); the meaning of an id (contact.Pinned); what is left to publish of an
// organization; contacts by id; organizations by id; then what is linked with them, tasks last. A tag's row comes last, tags sorted by slug; the worker
// that changes tags waits for no contact.
//
// Reads: contact, organization, contact_organization, activity, consent, tag, field_group, field, import, task.
//
// # Floors
//
// From the ground up. A package uses only those that stand before it.
//
//   - person: rules for names, numbers, web addresses, VAT numbers, countries
//   - record: what two records of one kind fill, overwrite and differ in
//   - csvfile: uploaded files, and what their columns mean
//   - directory: what contacts are searched and counted in, in memory
//   - field: custom fields, and the stored form of values
//   - timeline: what happened to a record
//   - contact: contacts, the addresses they had, and the ids that mean them
//   - draft: what a row of an uploaded file brings
//   - reversal: what an undo makes of a contact
//   - copies: appointments and submissions
//   - organization: organizations
//   - link: which people belong to which organizations
//   - history: timelines as people read them, and notes
//   - task: what the team has to do
//   - tag: tags, and how their changes reach contacts
//   - marketing/web: the pages behind the links in mails
//   - marketing: consents and subscriptions
//   - search: lists, filters and files of contacts
//   - people: what the team does with contacts
//   - joining: visitors' contacts, and merges
//   - handover: what people who left the team owned
//   - imports: files of contacts
//   - privacy: erasing people, and what is kept about them
//   - overview: today, and numbers by week
//
// # Across rooms
//
//   - contact by appointment, trigger: a contact is found by the names for which its address booked
//   - contact_organization by contact, cascade: link has moved or deleted the links before
//   - contact_organization by organization, cascade: link has moved the links before
//   - consent by contact, cascade: marketing has moved or deleted the consents before
//   - task by contact, cascade: task has moved or deleted the tasks before
//   - task by organization, set null: task has moved the tasks before
//   - marketing_link by contact, set null: marketing has taken the contact off the links before
package contacts
