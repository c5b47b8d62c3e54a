package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"frontdesk/libs/freeport"
)

// Offsets from the gateway's port.
const (
	mailPageOffset        = 1
	smtpOffset            = 2
	postgresOffset        = 3
	kafkaOffset           = 4
	traefikOffset         = 5
	controllerOffset      = 6
	controllerAdminOffset = 7
	apacheControlOffset   = 8
	apacheAdminOffset     = 9
	serviceOffset         = 11
	serviceAdminOffset    = 21
	// replicaOffset is from the ports of a service to those of its next replica.
	replicaOffset = 20
)

// lastOffset is the highest of a run.
func (k knobs) lastOffset() int {
	last := serviceAdminOffset + len(services) - 1
	for _, more := range k.replicas {
		last = max(last, serviceAdminOffset+len(services)-1+more*replicaOffset)
	}
	return last
}

type port struct {
	number int
	of     string
}

// checkPorts fails if a port is taken, and names what it is for. It waits up to three seconds first: a run that was just
// killed holds its ports a little longer.
func checkPorts(ports []port) error {
	patience := time.Now().Add(3 * time.Second)
	for _, p := range ports {
		for {
			err := freeport.Check(p.number)
			if err == nil {
				break
			}
			if time.Now().Before(patience) {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			if errors.Is(err, syscall.EACCES) {
				return fmt.Errorf("port %d (%s) needs more rights than you have: choose another with SVC_HTTP_PORT, for instance SVC_HTTP_PORT=9080 make run", p.number, p.of)
			}
			return fmt.Errorf("port %d (%s) is taken: stop the program that listens there, or choose other ports, for instance SVC_HTTP_PORT=9080 make run", p.number, p.of)
		}
	}
	return nil
}
