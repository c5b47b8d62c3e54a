package op

import (
	"strconv"
	"strings"

	"frontdesk/libs/fault"
)

// Versioned is implemented by answers that are one record: its version becomes the answer's ETag.
type Versioned interface{ RecordVersion() int64 }

// Stamp is the answer of a change that shows nothing of the record but its version.
type Stamp struct {
	None
	Version int64 `json:"-"`
}

// RecordVersion is the answer's ETag.
func (s Stamp) RecordVersion() int64 { return s.Version }

// noVersion is one that no record has.
const noVersion = -1

// versions reads If-Match: the versions of which the record must have one, and none if any will do. A weak tag matches nothing; weak are the
// versions that such tags name.
func versions(header []string) (seen, weak []int64, wrong fault.Problem) {
	for tag := range strings.SplitSeq(strings.Join(header, ","), ",") {
		tag = strings.TrimSpace(tag)
		strong, isWeak := strings.CutPrefix(tag, "W/")
		text, quoted := strings.CutPrefix(strong, `"`)
		text, closed := strings.CutSuffix(text, `"`)
		if tag == "" || tag == "*" {
			continue
		}
		if !quoted || !closed {
			return nil, nil, fault.Format("etag", "an ETag as an answer gave it", `"7"`)
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			n = noVersion
		}
		if isWeak {
			weak, n = append(weak, n), noVersion
		}
		seen = append(seen, n)
	}
	return seen, weak, wrong
}
