package knob_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/knob"
)

func TestEachKindTakesItsValuesAndRefusesOthers(t *testing.T) {
	key := strings.Repeat("k", 32)
	for takes, c := range map[string]struct{ good, bad []string }{
		"text":              {[]string{"a b", "é", "$%&"}, []string{"a\nb", "a\x00", "\xff", "\x1b[0m"}},
		"bool":              {[]string{"true", "0", "F"}, []string{"yes", "2", "on"}},
		"factor":            {[]string{"0", "1.5", "1e3"}, []string{"-1", "NaN", "Inf", "1,5", "x"}},
		"number 1 100":      {[]string{"1", "100"}, []string{"0", "101", "-3", "1.5", "x", " 1", "99999999999999999999"}},
		"duration":          {[]string{"0s", "1m30s"}, []string{"-1s", "5", "soon"}},
		"duration 1s 10s":   {[]string{"1s", "10s"}, []string{"999ms", "11s", "soon"}},
		"address":           {[]string{":8080", "127.0.0.1:0", "[::1]:80", "booking-2:9000"}, []string{"8080", "host", "host:", "host:x", "host:70000", "host:-1", "a b:80", "http://h:80"}},
		"brokers":           {[]string{"a:9092", "a:9092, b:9093"}, []string{"a", "a:9092,b", "a:0", ":9092", "a:9092,", "PLAINTEXT://a:9092"}},
		"url http https":    {[]string{"http://h", "https://h:8443/x", "http://[::1]:80"}, []string{"h", "h:80", "/x", "ftp://h", "http://", "http://:80", "http://h:x", "http://h:0", "http://h:70000", "http//h"}},
		"email":             {[]string{"a@localhost", "a@example.com"}, []string{"a", "A <a@example.com>", "a@example.com,b@example.com", "a@"}},
		"urls mailto https": {[]string{"mailto:o'hara@example.com", "mailto:a@example.com,https://example.com/report"}, []string{"mailto:", "mailto:ann@", "a@example.com", "http://h"}},
		"urls http https":   {[]string{"http://h", "http://10.1.3.21:8000,http://10.1.3.22:8000"}, []string{"http://h,", "http://h,h:80", ",http://h"}},
		"hosts":             {[]string{"desk.example.com", "a, 10.0.0.1,[::1]"}, []string{"http://a", "a b", "a/b"}},
		"networks":          {[]string{"10.0.0.0/8, 192.0.2.7"}, []string{"everybody", "10.0.0.0/99"}},
		"key":               {[]string{key}, []string{key[1:]}},
		"keys":              {[]string{key, key + "," + key}, []string{key + ",short", key + ","}},
		"zone":              {[]string{"Europe/Brussels", "UTC"}, []string{"Europe/Nowhere", "Local", "../zone"}},
		"one of tls http":   {[]string{"tls", "http"}, []string{"dns", "one", "of", "TLS"}},
		"lamp":              {[]string{"on"}, []string{"off"}},
		"":                  {nil, []string{"x"}},
		"chair":             {nil, []string{"x"}},
	} {
		lamp := knob.Kinds{"lamp": knob.KindOf(func(value string) (bool, error) {
			if value != "on" {
				return false, errors.New("it is dark")
			}
			return true, nil
		})}
		require.NoError(t, knob.Check(takes, "", lamp), takes)
		for _, v := range c.good {
			require.NoError(t, knob.Check(takes, v, lamp), "%s: %s", takes, v)
		}
		for _, v := range c.bad {
			require.Error(t, knob.Check(takes, v, lamp), "%s: %s", takes, v)
		}
	}
}

func TestTheKindsOfSecretsDoNotRepeatThem(t *testing.T) {
	for takes, value := range map[string]string{"text": "hunter2\n", "key": "hunter2", "keys": "hunter2", "url smtp": "http://me:hunter2@h", "url http": "http://me:hunter2@h:x"} {
		err := knob.Check(takes, value, nil)
		require.Error(t, err, takes)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

type several struct {
	Rooms int           `env:"ROOMS" takes:"number 1 9" envDefault:"2"`
	Wait  time.Duration `env:"WAIT" takes:"duration" envDefault:"1s"`
	Names []string      `env:"NAMES" takes:"text"`
	Key   string        `env:"KEY" takes:"key" secret:"true" required:"true"`
}

func TestAllThatIsWrongIsToldAtOnceAndTheRestIsRead(t *testing.T) {
	got, err := knob.Read[several](map[string]string{"ROOMS": "10", "WAIT": "-1s", "NAMES": "a,b"}, nil)
	require.EqualError(t, err, "ROOMS has to be a number from 1 to 9, not \"10\"\nWAIT has to be a time such as 1s, not \"-1s\"\nKEY is required")
	require.Equal(t, several{Rooms: 2, Wait: time.Second, Names: []string{"a", "b"}}, got)

	got, err = knob.Read[several](map[string]string{"ROOMS": "9", "WAIT": "", "KEY": strings.Repeat("k", 32)}, nil)
	require.NoError(t, err)
	require.Equal(t, several{Rooms: 9, Wait: time.Second, Key: strings.Repeat("k", 32)}, got)
}
