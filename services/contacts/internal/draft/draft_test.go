package draft

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/erasure"
	"frontdesk/services/contacts/internal/contact"
)

func TestARowIsAboutAPersonByAnAddressOrByAWholeName(t *testing.T) {
	hash := func(called string) []byte { h := sha256.Sum256([]byte(called)); return h[:] }
	ann := &contact.Leavers{Person: erasure.New(hash, time.Now(), nil, [][]byte{hash("ann@example.com")}), Names: []contact.FullName{{First: "Ann", Last: "Lee"}}}
	for name, c := range map[string]struct {
		cells []string
		about bool
	}{
		"an address among words":        {[]string{"x", "Ann <ann@example.com>, at work"}, true},
		"an address in a link":          {[]string{"https://a.example/?e=ann%40example.com"}, true},
		"an address with a soft hyphen": {[]string{"an\u00adn@example.com"}, true},
		"two addresses in a cell":       {[]string{"bob@example.com;ann@example.com"}, true},
		"a quoted address":              {[]string{`"ann"@example.com`}, true},
		"an address that ends like it":  {[]string{"joann@example.com"}, false},
		"an address with a tag":         {[]string{"ann+news@example.com"}, false},
		"both names":                    {[]string{"Lee", " ann "}, true},
		"a namesake with an address":    {[]string{"Ann", "Lee", "bob@example.com"}, false},
		"a namesake with a link":        {[]string{"Ann", "Lee", "bob%40example.com"}, false},
		"a part of the name":            {[]string{"Annelies", "Lee"}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.about, About(c.cells, ann)) })
	}
}
