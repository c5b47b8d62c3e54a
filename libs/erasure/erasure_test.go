package erasure

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/address"
)

func hash(s string) []byte { h := sha256.Sum256([]byte(strings.ToLower(s))); return h[:] }

var ann = uuid.MustParse("019a0000-0000-7000-8000-000000000001")

func somebody() *Person {
	return New(hash, time.Time{}, []string{ann.String(), "42"}, [][]byte{hash("x@a.example"), hash(address.Key("ann@bücher.example")), hash("Ann Leaves")})
}

func TestAnAddressIsFoundInEverySpellingAndOnlyWhole(t *testing.T) {
	for text, found := range map[string]bool{
		"x@a.example": true, "X@A.Example": true, "Ann <x@a.example>, hello": true, "mailto:x@a.example?subject=hi": true,
		"email=x@a.example&y=1": true, "see x@a.example.": true, "ann@bücher.example": true, "ann@xn--bcher-kva.example": true, "Ann@BÜCHER.example": true,
		"janx@a.example": false, "jan.x@a.example": false, "x@a.example.org": false, "x@aa.example": false, "x+y@a.example": false, "": false,
		"id " + ann.String(): true, strings.ToUpper(ann.String()): true,
		"019a0000-0000-7000-8000-000000000002": false, "Ann Leaves": false, "Ann Leaves today": false,
	} {
		require.Equal(t, found, somebody().MentionedIn(text), text)
	}
}

func TestANameCountsAsAWholeValueOnly(t *testing.T) {
	p := somebody()
	require.True(t, p.InJSON([]byte(`{"contact": [{"name": "ann leaves"}]}`)))
	require.False(t, p.InJSON([]byte(`{"contact": {"name": "Joann Leavesley"}, "n": 3, "note": "Ann Leaves early"}`)))
	require.False(t, p.InJSON([]byte(`{"name": "Ann Leaves", "email": "namesake@b.example"}`)), "somebody else of that name")
	require.True(t, p.InJSON([]byte(`{"name": "Ann Leaves", "email": "X@a.example"}`)))
	require.True(t, p.InJSON([]byte(`not JSON about x@a.example`)))
}

func TestStrikingOutLeavesOthersWhole(t *testing.T) {
	left, struck := somebody().StrikeFrom("from x@a.example to janx@a.example and X@A.example")
	require.True(t, struck)
	require.Equal(t, "from  to janx@a.example and ", left)
	_, struck = somebody().StrikeFrom("janx@a.example")
	require.False(t, struck)
	raw, struck := somebody().StrikeFromJSON([]byte(`{"email":{"old":"x@a.example","new":"janx@a.example"}}`))
	require.True(t, struck)
	require.JSONEq(t, `{"email":{"old":"","new":"janx@a.example"}}`, string(raw))
}

func TestWhatATextMentionsCanBeFoundAgain(t *testing.T) {
	ids, called := Mentions(hash, []byte(`{"id":"`+ann.String()+`","email":"Ann@Bücher.example"}`))
	require.Equal(t, []uuid.UUID{ann}, ids)
	require.Equal(t, [][]byte{hash(address.Key("ann@bücher.example"))}, called)
}
