package mailer

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/ics"
	"frontdesk/proto"
)

// shown begin the kinds of mails whose text the team may read. Others are about accounts: they hold links that sign somebody in.
var shown = []string{"appointment.", "marketing.", "contact.", "form.", "team_", "request_", "agenda", "calendar_", "webhook.", "support.", "feedback."}

func isShown(kind string) bool {
	return slices.ContainsFunc(shown, func(begin string) bool { return strings.HasPrefix(kind, begin) })
}

// linkToken finds the tokens of our links, each behind the address of its page.
func linkToken(publicURL string) *regexp.Regexp {
	return regexp.MustCompile(`(` + regexp.QuoteMeta(publicURL) + `/(?:manage|marketing/[a-z]+)(?:\?lang=[a-z]{2})?[?#]token=)([A-Za-z0-9_-]+)`)
}

// hidden stands for a token in what is kept of a mail, with its number behind it.
const hidden = "…"

var hiddenToken = regexp.MustCompile(`(token=` + hidden + `)(\d+)`)

// withoutTokens is what is kept of a mail, and the hashes of the tokens that were in it. The lines of its calendar file are not folded.
func withoutTokens(publicURL string, m *proto.Mail) (kept *proto.Mail, hashes [][]byte) {
	kept = protobuf.CloneOf(m)
	numbers := map[string]int{}
	strike := func(text string) string {
		return linkToken(publicURL).ReplaceAllStringFunc(text, func(link string) string {
			at := strings.LastIndex(link, "token=") + len("token=")
			token := link[at:]
			if _, ok := numbers[token]; !ok {
				numbers[token] = len(hashes)
				hashes = append(hashes, hashOf(token))
			}
			return link[:at] + hidden + strconv.Itoa(numbers[token])
		})
	}
	change(kept, strike)
	kept.Calendar = []byte(strike(string(ics.Unfold(m.GetCalendar()))))
	return kept, hashes
}

// withTokens is a kept mail with new tokens, under a new id, and their hashes.
func withTokens(kept *proto.Mail, n int) (m *proto.Mail, hashes [][]byte) {
	m = protobuf.CloneOf(kept)
	m.Id = uuid.Must(uuid.NewV7()).String() // mail programs show no second mail of the same id
	m.NotBefore = 0
	tokens := make([]string, n)
	for i := range tokens {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret)
		tokens[i] = base64.RawURLEncoding.EncodeToString(secret)
		hashes = append(hashes, hashOf(tokens[i]))
	}
	fill := func(text string) string {
		return hiddenToken.ReplaceAllStringFunc(text, func(s string) string {
			number, err := strconv.Atoi(strings.TrimPrefix(s, "token="+hidden))
			if err != nil || number >= n {
				return s
			}
			return "token=" + tokens[number]
		})
	}
	change(m, fill)
	m.Calendar = ics.Fold([]byte(fill(string(kept.GetCalendar()))))
	return m, hashes
}

func change(m *proto.Mail, with func(string) string) {
	m.Text, m.Html, m.UnsubscribeUrl = with(m.GetText()), with(m.GetHtml()), with(m.GetUnsubscribeUrl())
}

func hashOf(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}
