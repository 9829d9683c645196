package redistest

import (
	"errors"
	"os"
	"os/exec"
)

// ErrNoServer says that there is no redis-server and how to install one.
var ErrNoServer = errors.New("redistest: redis-server was not found in PATH (nor in $REDIS_SERVER); install it with: apt-get install -y redis-server")

// Find returns the path of the redis-server program: the value of the
// environment variable REDIS_SERVER when it is set, else the one in PATH.
// It returns [ErrNoServer] when there is none.
func Find() (path string, err error) {
	name := os.Getenv("REDIS_SERVER")
	if name == "" {
		name = "redis-server"
	}
	path, err = exec.LookPath(name)
	if err != nil {
		return "", ErrNoServer
	}
	return path, nil
}
