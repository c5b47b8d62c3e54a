// Package tether starts child processes that cannot outlive this one.
package tether

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

type order struct {
	cmd    *exec.Cmd
	result chan error
}

var orders = sync.OnceValue(func() chan<- order {
	c := make(chan order)
	go func() {
		// The kernel sends the death signal when the thread that forked ends, not when the process does. Go ends a thread
		// only with the goroutine locked to it, so one locked goroutine that never returns forks every child.
		runtime.LockOSThread()
		for o := range c {
			o.result <- o.cmd.Start()
		}
	}()
	return c
})

// Start is cmd.Start for a child in a process group of its own (a Ctrl-C in the terminal reaches this process only)
// that receives onDeath when this process ends in whatever way, kill -9 included. Grandchildren are the child's concern.
func Start(cmd *exec.Cmd, onDeath syscall.Signal) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = onDeath
	o := order{cmd, make(chan error, 1)}
	orders() <- o
	return <-o.result
}
