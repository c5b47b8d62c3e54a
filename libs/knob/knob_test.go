package knob_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/knob"
)

func TestNetworksAreAddressesAndPrefixes(t *testing.T) {
	got, err := knob.Networks(" 10.1.2.3/8, 192.0.2.7,2001:db8::1 ,::ffff:192.0.2.8,")
	require.NoError(t, err)
	require.Equal(t, "[10.0.0.0/8 192.0.2.7/32 2001:db8::1/128 192.0.2.8/32]", fmt.Sprint(got))
	_, err = knob.Networks("10.0.0.0/8,proxy")
	require.ErrorContains(t, err, `"proxy" is neither`)
}

type sample struct {
	Password string `env:"PASSWORD" takes:"text" secret:"true" help:"of the door"`
	Name     string `env:"NAME" takes:"text" envDefault:"nobody" help:"on the door"`
	Made     int    `env:"-"`
}

func TestASecretStandsInTheEnvironmentOrInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("from a file\r\n"), 0o600))
	for name, c := range map[string]struct {
		given       map[string]string
		want, wrong string
	}{
		"neither":        {map[string]string{}, "", ""},
		"the variable":   {map[string]string{"PASSWORD": "given"}, "given", ""},
		"a file":         {map[string]string{"PASSWORD_FILE": file}, "from a file", ""},
		"both":           {map[string]string{"PASSWORD": "given", "PASSWORD_FILE": file}, "", "PASSWORD is set, and PASSWORD_FILE too"},
		"a missing file": {map[string]string{"PASSWORD_FILE": "/nowhere"}, "", "PASSWORD_FILE cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := knob.WithSecrets(c.given, "PASSWORD")
			read, same := knob.Read[sample](c.given, nil)
			require.Equal(t, err != nil, same != nil)
			require.Equal(t, c.want, read.Password)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got["PASSWORD"])
		})
	}
	var help bytes.Buffer
	knob.Print[sample](&help)
	require.Contains(t, help.String(), "of the door (or PASSWORD_FILE)\n")
	require.Contains(t, help.String(), "on the door (default nobody)\n")
	require.NotContains(t, help.String(), "  -")
}
