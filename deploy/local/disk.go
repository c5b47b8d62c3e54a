package main

import (
	"fmt"
	"syscall"
)

const gigabyte = 1 << 30

// checkSpace fails if the disk that holds dir has less than need bytes left for what.
func checkSpace(dir string, need uint64, what string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	if have := fs.Bavail * uint64(fs.Bsize); have < need {
		return fmt.Errorf("the disk of %s has %.1f GB left and %s needs %.1f GB: free some space and start again",
			dir, float64(have)/gigabyte, what, float64(need)/gigabyte)
	}
	return nil
}
