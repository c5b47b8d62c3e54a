package op

import (
	"strconv"
	"strings"

	"frontdesk/libs/fault"
)

// Versioned is implemented by answers that are one record: its version becomes the answer's ETag.
type Versioned interface{ RecordVersion() int64 }

// noVersion is one that no record has.
const noVersion = -1

// versions reads If-Match: the versions of which the record must have one, and none if any will do. A weak tag matches nothing.
func versions(header []string) (seen []int64, wrong fault.Problem) {
	for tag := range strings.SplitSeq(strings.Join(header, ","), ",") {
		tag = strings.TrimSpace(tag)
		text, quoted := strings.CutPrefix(strings.TrimPrefix(tag, "W/"), `"`)
		text, closed := strings.CutSuffix(text, `"`)
		switch {
		case tag == "" || tag == "*":
		case !quoted || !closed:
			return nil, fault.Format("etag", "an ETag as an answer gave it", `"7"`)
		default:
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || strings.HasPrefix(tag, "W/") {
				n = noVersion
			}
			seen = append(seen, n)
		}
	}
	return seen, wrong
}
