// Package web shows forms to visitors: the page of each at /f/{id}, which works without script, and what the widget
// <svc-form> asks for. Both are the same HTML, and both send through the public operations.
package web
