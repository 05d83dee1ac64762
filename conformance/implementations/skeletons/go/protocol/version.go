package protocol

import (
	"runtime/debug"
	"strings"
)

// LibraryVersion is the version of a module that is built into the driver, such as "1.2.3", or "" if there is none.
func LibraryVersion(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}
