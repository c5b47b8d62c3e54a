// Package imports keeps files of contacts and what became of their rows: the tables import and import_error, the operations on imports, and the worker
// that runs them.
//
// It uses field, timeline, contact, organization, tag and marketing. Privacy holds imports while it erases somebody, and strikes the person out of them.
package imports
