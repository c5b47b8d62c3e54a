// Package settings is the service that owns people and their access, the settings of the site, its apps and pages, the audit
// log of all services and the mail that leaves the system.
//
// It publishes who may call (settings.identity), the site's documents (settings.site), which apps are on (settings.apps) and
// the site's pages (settings.page), each in the transaction of the change.
//
// Locks are taken in one order: roles, then documents (the portal's before api-access), then users and pages by id, then
// their sessions, keys, connections and links. An erasure waits for the transactions that store audit entries about people, see erasing in audit.
//
// Reads: person, role, document, page, saved_view, media, mail, audit.
//
// # Floors
//
// From the ground up. A package uses only those that stand before it.
//
//   - row: rows of tables as structs
//   - typed: what people have typed, checked
//   - secrets: tokens, and the hashes under which they are kept
//   - oauth: the request with which an assistant asks for a person's consent
//   - document: the documents of the settings
//   - audit: the audit log of all services
//   - media: the site's pictures
//   - site: the business, the portal, how forms look, privacy, who reaches the API
//   - templates: the words of the mails to clients and visitors
//   - mailer: the mails of all services, and the links in our own
//   - page: the site's own pages
//   - apps: which apps are on, and the description of the interface
//   - people: users, and the mails about their accounts
//   - view: lists as people want to see them again
//   - roles: what users may do, who gives it, and who the caller is
//   - notices: what people of the team are told of what others did
//   - sessions: browsers that are signed in
//   - keys: application passwords
//   - mcp: what assistants connect to
//   - assistants: what they may use, and their connections
//   - approvals: calls of keys and assistants that wait for a person
//   - twofactor: second factors and recovery codes
//   - passkeys: passkeys of users
//   - passwords: passwords, and the links to choose a new one
//   - signin: signing in, and the browsers that are recognised
//   - team: the people of the team, their invitations and access
//   - sso: the organization's account in place of a password
//   - undo: sessions of work, and taking them back
//   - support: telemetry, the guide for a new site, requests for support
//   - live: the stream of changes
//   - portal: the team's screens
//   - docs: guides and the reference for integrators
//   - organization: the pages around a sign-in at the organization's provider
//   - publicpages: the site's own pages, and what programs are told of the site
//   - settings/web: the other pages for people in a browser
//
// # Across rooms
//
//   - recovery_code by person, cascade: nothing is published of them, so they may go unseen
//   - notification by person, cascade: nothing is published of them
//   - notice by person, cascade: who has left is told nothing more
//   - saved_view by person, cascade: team hands over what is shared before it deletes the user
//   - session by person, cascade: team ends and publishes them before it deletes the user
//   - application_password by person, cascade: as with sessions
//   - connection by person, cascade: as with sessions, with their tokens
//   - approval by person, cascade: nothing is published of them, and nobody is left in whose name the call could be made
//   - browser by person, cascade: nothing is published of them
//   - passkey by person, cascade: nothing is published of them
//   - link by person, set null: team ends them before; one that has ended is still told from one that never was
package settings
