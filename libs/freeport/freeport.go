// Package freeport gives out ports of the loopback interface on which nothing listens, for programs that are told their port.
//
// The ports lie below those that the kernel gives to outgoing connections, so no connection takes one before its program listens.
// No two processes get the same port: each has blocks of its own, and listens on the mark of a block until it ends.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const (
	marks = 10000
	first = 10300
	size  = 100
	count = 220 // The last port is 32299; the kernel's own begin with 32768.
)

var (
	mu        sync.Mutex
	held      []net.Listener
	next, end int // what is left of the block that Port takes from
)

// Port is a free port. It is given out once. Port panics when no block is left, which takes more processes than a machine has.
func Port() int {
	mu.Lock()
	defer mu.Unlock()
	for {
		for next < end {
			next++
			if Check(next-1) == nil {
				return next - 1
			}
		}
		begin, err := take(1)
		if err != nil {
			panic(err)
		}
		next, end = begin, begin+size
	}
}

// Address is 127.0.0.1 with a Port.
func Address() string { return At(Port()) }

// At is 127.0.0.1 with that port.
func At(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Check is nil if a program can listen on the port.
func Check(port int) error {
	l, err := net.Listen("tcp", At(port))
	if err != nil {
		return err
	}
	return l.Close()
}

// Block is the first of n free ports in a row.
func Block(n int) (int, error) {
	mu.Lock()
	defer mu.Unlock()
	return take((n + size - 1) / size)
}

// take holds so many blocks in a row of which every port is free.
func take(n int) (int, error) {
	start := rand.IntN(count)
	for i := range count {
		block := (start + i) % count
		if block+n > count {
			continue
		}
		if l := hold(block, n); l != nil {
			held = append(held, l...)
			return first + block*size, nil
		}
	}
	return 0, errors.New("no block of free ports is left")
}

// hold listens on the marks of n blocks. It returns nil, and holds none, when one of them is another process's or a port is taken.
func hold(block, n int) (all []net.Listener) {
	for i := block; i < block+n; i++ {
		l, err := net.Listen("tcp", At(marks+i))
		if err == nil {
			all = append(all, l)
		}
		if err != nil || !allFree(first+i*size) {
			for _, l := range all {
				_ = l.Close()
			}
			return nil
		}
	}
	return all
}

// allFree reports whether a block that begins with port is free.
func allFree(port int) bool {
	for p := range size {
		if Check(port+p) != nil {
			return false
		}
	}
	return true
}
