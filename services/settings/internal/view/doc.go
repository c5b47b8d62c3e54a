// Package view keeps views: lists as somebody wants to see them again, with filters, order and columns.
//
// It owns saved_view. It uses document and row.
//
// Reads: person.
package view
