package freeport

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

const childVariable = "FREEPORT_CHILD"

// TestMain lets a test start processes that take a block and hold it.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	begin, err := Block(size + 1)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(begin)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

func TestAPortIsGivenOutOnce(t *testing.T) {
	given := map[int]bool{}
	for range 2*size + 1 {
		port := Port()
		require.False(t, given[port])
		given[port] = true
		require.NoError(t, Check(port))
		require.Less(t, port, 32768)
	}
}

func TestAPortThatIsTakenIsPassedOver(t *testing.T) {
	l, err := net.Listen("tcp", At(Port()+1))
	require.NoError(t, err)
	defer l.Close()
	require.NotEqual(t, l.Addr().(*net.TCPAddr).Port, Port())
	require.Nil(t, hold((l.Addr().(*net.TCPAddr).Port-first)/size, 1), "the mark is held")
}

func TestABlockIsOfOneProcessUntilThatEnds(t *testing.T) {
	var begins []int
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=1")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		var begin int
		_, err = fmt.Fscan(out, &begin)
		require.NoError(t, err)
		begins = append(begins, begin)
		require.Nil(t, hold((begin-first)/size+1, 1), "the second half of what it holds")
		if len(begins) == 5 {
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			mark := (begin-first)/size + 1
			l := hold(mark, 1)
			require.Len(t, l, 1, "given back with the process")
			require.NoError(t, l[0].Close())
		}
	}
	for i, a := range begins {
		for _, b := range begins[:i] {
			require.True(t, a+2*size <= b || b+2*size <= a, "%d and %d overlap", a, b)
		}
	}
}

func TestMorePortsThanThereAreIsAnError(t *testing.T) {
	_, err := Block(count*size + 1)
	require.Error(t, err)
}
