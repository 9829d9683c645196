package meter

import (
	"strings"

	"github.com/goautopipe/redis-autopipe/internal/command"
)

// upper has the known command names in upper case, made once so that no event allocates one.
var upper = func() map[string]string {
	m := map[string]string{}
	for _, name := range command.Names() {
		m[name] = strings.ToUpper(name)
	}
	return m
}()

// CommandName is a command's name as conventions want it, in upper case, or "" if it is not in the command table and so
// may be anything.
func CommandName(name string) string { return upper[name] }
