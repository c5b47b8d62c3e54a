package world

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"frontdesk/deploy/client"
)

// Export is how a file that a service writes row by row was read to its end.
type Export struct {
	Lines           int // with that of the header
	FirstByte, Took time.Duration
	More            int // KiB that the service's process held at most, beyond what it held before
}

// ReadExport reads a file of the API, which the process with this PID writes.
func ReadExport(as client.API, pid int, path string) (e Export, err error) {
	before := Memory(pid, "VmRSS")
	ForgetPeak(pid)
	req, err := http.NewRequest(http.MethodGet, as.URL+"/v1"+path, nil)
	if err != nil {
		return e, err
	}
	if as.Password != "" {
		req.SetBasicAuth(as.Login, as.Password)
	}
	start := time.Now()
	res, err := as.Client.Do(req)
	if err != nil {
		return e, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return e, fmt.Errorf("GET %s: %s", path, res.Status)
	}
	in := bufio.NewReaderSize(res.Body, 1<<20)
	if _, err := in.Peek(1); err != nil {
		return e, err
	}
	e.FirstByte = time.Since(start)
	buf := make([]byte, 1<<20)
	for {
		n, err := in.Read(buf)
		e.Lines += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return e, err
		}
	}
	e.Took, e.More = time.Since(start), Memory(pid, "VmHWM")-before
	return e, nil
}
