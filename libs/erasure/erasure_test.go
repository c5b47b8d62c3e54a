package erasure

import (
	"crypto/sha256"
	"encoding/json"
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

func personAt(a string) *Person { return New(hash, time.Time{}, nil, [][]byte{hash(address.Key(a))}) }

func TestATextInJSONIsLookedAtAsItReads(t *testing.T) {
	for _, text := range []string{"Kind regards\nErika\nerika@x.be", "a\terika@x.be", "Erika <erika@x.be>", "q?a=1&erika@x.be"} {
		raw, err := json.Marshal(map[string]string{"message": text})
		require.NoError(t, err)
		_, called := Mentions(hash, []byte("a key"), raw)
		require.Contains(t, called, hash("erika@x.be"), text)
		left, struck := personAt("erika@x.be").StrikeFromJSON(raw)
		require.True(t, struck, text)
		require.NotContains(t, string(left), "erika@", text)
	}
	// An escape is no letter of the word behind it, so nobody else is meant.
	for raw, other := range map[string]string{
		`{"message":"Kind regards\nerika@x.be"}`: "nerika@x.be", `{"message":"\terika@x.be"}`: "terika@x.be", `{"message":"\u003cerika@x.be>"}`: "u003cerika@x.be",
		`{"message":"\ud83d\ude00erika@x.be"}`: "ude00erika@x.be",
	} {
		require.Equal(t, [][]byte{hash("erika@x.be")}, Called(hash, []byte(raw)), raw)
		require.True(t, personAt("erika@x.be").MentionedInJSON([]byte(raw)), raw)
		require.False(t, personAt(other).MentionedInJSON([]byte(raw)), raw)
		require.False(t, personAt(other).InJSON([]byte(raw)), raw)
	}
}

func TestAnApostropheBelongsToAnAddress(t *testing.T) {
	for _, a := range []string{"o'brien@x.ie", "d'hondt@x.be"} {
		require.True(t, personAt(a).MentionedIn("write to "+a))
		left, struck := personAt(a).StrikeFrom("write to " + a)
		require.True(t, struck)
		require.Equal(t, "write to ", left)
	}
	_, struck := personAt("hondt@x.be").StrikeFromJSON([]byte(`{"email":"d'hondt@x.be"}`))
	require.False(t, struck, "somebody else's")
	left, struck := personAt("hondt@x.be").StrikeFrom("says 'hondt@x.be'")
	require.True(t, struck)
	require.Equal(t, "says ''", left)
}

func TestALinkLosesTheAddressAlone(t *testing.T) {
	for link, want := range map[string]string{
		"https://a.be/form?email=erika@x.be&ref=jan@y.be":                  "https://a.be/form?email=&ref=jan@y.be",
		"https://a.be/form?email=erika%40x.be&ref=jan%40y.be":              "https://a.be/form?email=&ref=jan%40y.be",
		"https://a.be/?to=https%3A%2F%2Fb.be%3Fe%3Derika%2540x.be%26a%3D1": "https://a.be/?to=https%3A%2F%2Fb.be%3Fe%3D%26a%3D1",
		"jan@y.be/erika@x.be": "jan@y.be/",
		"erika@x.be/jan@y.be": "/jan@y.be",
		"@erika@x.be":         "@",
	} {
		left, struck := personAt("erika@x.be").StrikeFrom(link)
		require.True(t, struck, link)
		require.Equal(t, want, left)
	}
}
