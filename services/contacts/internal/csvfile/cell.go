package csvfile

import "strings"

var statuses = map[string]string{
	"lead": "lead", "prospect": "lead", "prospekt": "lead", "interessent": "lead", "interessentin": "lead",
	"customer": "customer", "client": "customer", "cliente": "customer", "klant": "customer", "kunde": "customer", "kundin": "customer",
	"inactive": "inactive", "inactief": "inactive", "inactif": "inactive", "inaktiv": "inactive",
}

// Status is the contact status that a cell names in English, Dutch, French or German: lead, customer or
// inactive. ok is false when it names none; an empty cell names "".
func Status(cell string) (status string, ok bool) {
	if strings.TrimSpace(cell) == "" {
		return "", true
	}
	status, ok = statuses[plain(cell)]
	return status, ok
}

// Tags are the tags in a cell, separated by commas, each once whatever its case.
func Tags(cell string) []string {
	var out []string
	seen := map[string]bool{}
	for tag := range strings.SplitSeq(cell, ",") {
		tag = strings.Join(strings.Fields(tag), " ")
		if key := strings.ToLower(tag); tag != "" && !seen[key] {
			seen[key] = true
			out = append(out, tag)
		}
	}
	return out
}
