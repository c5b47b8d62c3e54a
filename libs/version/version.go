// Package version says which build a program is.
package version

import (
	"fmt"
	"os"
	"runtime/debug"
)

// Number is the version of all programs of this checkout, by semver.org. deploy/CHANGELOG.md says what it means and what is in it.
const Number = "1.0.1"

// revision is set by the linker (-X frontdesk/libs/version.revision=…) where a build has no Git folder.
var revision string

// String is the number and, where the build has it, the commit: "1.0.1 (0123456789ab)", with "changed" behind the commit if files
// were changed since.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	commit, changed := revision, ""
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed"
			}
		}
	}
	if commit == "" {
		return Number
	}
	return fmt.Sprintf("%s (%.12s%s)", Number, commit, changed)
}

// Printed reports whether the program was called with -version or --version alone, after it has printed name and version.
func Printed(name string) bool {
	if len(os.Args) != 2 || os.Args[1] != "-version" && os.Args[1] != "--version" {
		return false
	}
	fmt.Println(name, String())
	return true
}
