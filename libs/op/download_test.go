package op

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever passes the file on sets the header of the answer when its first bytes are there.
func TestAFileHasItsNameBeforeItsFirstByte(t *testing.T) {
	var sent bytes.Buffer
	d := &Download{to: &sent, marked: true}
	d.Start("contacts.csv", ";")
	require.Zero(t, sent.Len(), "what fails before the first row is answered as an error")
	require.NoError(t, d.Row([]string{"id", "name"}))
	require.NoError(t, d.Row([]string{"1", "a;b"}))
	require.NoError(t, d.flush())
	require.Equal(t, "\ufeffid;name\n1;\"a;b\"\n", sent.String())
}
