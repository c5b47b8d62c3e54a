// Package audit keeps the audit log of all services: it stores what they write on svc.audit, and lists and exports it. A person who is
// erased leaves it.
package audit
