package main

import (
	"crypto/md5" //nolint:gosec // spreads ids, guards nothing
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// person is a contact as every system has it.
type person struct {
	id                                        uuid.UUID
	first, last, email, phone, status, source string
	tag                                       string
	created                                   time.Time
}

var (
	firsts = strings.Fields("Anna Jan Marie Peter Zoe Lukas Sophie Thomas Emma Noah Lea Jurgen Bjorn Elena Mohammed Fatima Pieter Sarah Kevin Nathalie Olivier Charlotte Wouter Ingrid Hannah Felix Mila Arthur Louise Jules")
	lasts  = strings.Fields("Peeters Janssens Maes Jacobs Mertens Willems Claes Goossens Wouters Desmet Dubois Lambert Muller Schmidt Dupont Martin Bernard Devries Berg Bakker Visser Smit Meijer Mulder Bos")
	began  = time.Now().UTC().Truncate(time.Second)
)

// The texts that are searched. rare is in one contact, common in every 25th.
const (
	rare   = "person4711@"
	common = "peeters"
)

// personOf is the i-th, from 1 on, the newest first. Names and addresses are of plain letters, because not every system compares others
// without case.
func personOf(i int) person {
	id := uuid.UUID(md5.Sum(fmt.Append(nil, i))) //nolint:gosec // see above
	return person{
		id: id, first: firsts[i*31%len(firsts)], last: fmt.Sprintf("%s %X", lasts[i*17%len(lasts)], id[:3]),
		email: fmt.Sprintf("person%d@%s", i, []string{"example.com", "mail.example", "post.example"}[i%3]),
		phone: fmt.Sprintf("+324%08d", i*7919%100_000_000), status: []string{"lead", "customer", "inactive"}[i%3],
		source: []string{"web", "fair", "phone", "letter"}[i%4], tag: fmt.Sprint("Tag ", i%50), created: began.Add(-time.Duration(i) * 94 * time.Second),
	}
}

// newcomer is the n-th whom a measurement creates.
func newcomer(n int64) person {
	return person{first: "Grace", last: fmt.Sprint("Hopper ", n), email: fmt.Sprintf("grace%d@example.com", n), phone: "+32470123456", status: "lead", source: "web"}
}
