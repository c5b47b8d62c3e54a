package web

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"frontdesk/libs/web"
	"frontdesk/services/forms/internal/definition"
)

// reasons are the words of definition for what is wrong with an answer, and under which key a visitor is
// told how to put it right.
var reasons = map[string]string{
	"must be given":  "given",
	"must be ticked": "ticked",
	"must be an email address such as name@example.com":                    "email",
	"must be a phone number such as +32 470 12 34 56":                      "phone",
	"must be a web address such as https://example.com":                    "url",
	"must be a number of at most 15 digits before and 10 behind the point": "number",
	"must be a number":                   "number",
	"must be a date such as 2026-12-31":  "date",
	"must be one of the options":         "option",
	"must be options that can be chosen": "option",
	"is needed to confirm by mail":       "needed",
}

var tooLong = regexp.MustCompile(`^must have at most ([0-9]+) characters$`)

// reason tells a visitor how to put right what the operation said of an answer.
func reason(t *web.Reader, kind, why string) string {
	if m := tooLong.FindStringSubmatch(why); m != nil {
		return t.T("form_long", "n", m[1])
	}
	if why == "must be given" && (kind == definition.KindDropdown || kind == definition.KindChoices) {
		return t.T("form_option")
	}
	if key := reasons[why]; key != "" {
		return t.T("form_" + key)
	}
	return t.T("form_other")
}

// wait tells how long to wait, in minutes when that is long.
func wait(t *web.Reader, d time.Duration) string {
	seconds := int(d.Seconds())
	if seconds > 90 {
		return t.T("form_minutes", "n", (seconds+59)/60)
	}
	return t.T("form_seconds", "n", max(2, seconds))
}

// words are those that the script needs, with the reasons under "=" and how the operation puts them.
func words(t *web.Reader) string {
	all := map[string]string{}
	for _, key := range strings.Fields("sending given ticked option email date long other again seconds minutes failed large gone thanks onward") {
		all[key] = t.T("form_" + key)
	}
	for why, key := range reasons {
		all["="+why] = t.T("form_" + key)
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}
