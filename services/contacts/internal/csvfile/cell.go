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

// Tags are the tags in a cell, as List reads it, each once whatever its case.
func Tags(cell string) []string {
	var out []string
	seen := map[string]bool{}
	for _, tag := range List(cell) {
		tag = strings.Join(strings.Fields(tag), " ")
		if key := strings.ToLower(tag); !seen[key] {
			seen[key] = true
			out = append(out, tag)
		}
	}
	return out
}

// several stands between values of one kind in files of Google Contacts.
const several = " ::: "

// first is the first of several addresses or numbers in a cell that is not empty.
func first(cell string) string {
	for part := range strings.SplitSeq(cell, several) {
		if part = strings.TrimSpace(part); part != "" {
			return part
		}
	}
	return ""
}

// List is the values in a cell: separated by commas, semicolons, bars or " ::: ", each plain or in quotes, in which quotes are
// doubled. Empty ones are left out, and groups that Google Contacts writes itself, such as "* myContacts".
func List(cell string) []string { return list(cell, ",;|") }

// CommaList is List with commas alone.
func CommaList(cell string) []string { return list(cell, ",") }

func list(cell, separators string) (out []string) {
	cell = strings.ReplaceAll(cell, several, separators[:1])
	for rest := cell; rest != ""; {
		rest = strings.TrimLeft(rest, " ")
		value, behind, ok := quotedValue(rest, separators)
		if !ok {
			end := strings.IndexAny(rest, separators)
			if end < 0 {
				end = len(rest)
			}
			value, behind = rest[:end], end
			if strings.HasPrefix(value, "* ") {
				value = ""
			}
		}
		if value = strings.TrimSpace(value); value != "" {
			out = append(out, value)
		}
		rest = rest[min(behind+1, len(rest)):]
	}
	return out
}

// quotedValue is the value in quotes at the beginning of s, and the place of the separator behind it.
func quotedValue(s, separators string) (value string, behind int, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", 0, false
	}
	for i := 1; ; {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return "", 0, false
		}
		at := i + n
		if i = at + 1; strings.HasPrefix(s[i:], `"`) {
			i++
			continue
		}
		behind = len(s) - len(strings.TrimLeft(s[i:], " "))
		return strings.ReplaceAll(s[1:at], `""`, `"`), behind, behind == len(s) || strings.ContainsRune(separators, rune(s[behind]))
	}
}

// Join writes values so that List and CommaList read them again: separated by a comma and a blank, in quotes where it is needed.
func Join(values []string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if strings.ContainsAny(v, `,;|"`) || strings.Contains(v, strings.TrimSpace(several)) || strings.HasPrefix(v, "* ") {
			v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
		b.WriteString(v)
	}
	return b.String()
}
