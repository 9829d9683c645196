package redistest

import "strings"

// Option changes how a server, or every server of a cluster or sentinel
// set-up, is started.
type Option func(*config)

type config struct {
	port int      // 0: choose one
	args []string // added after our own, so that they win
}

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		o(&c)
	}
	return c
}

// Args adds redis-server command line arguments, such as
// Args("--maxmemory", "1mb"). They come last and so override the defaults of
// this package.
func Args(args ...string) Option {
	return func(c *config) { c.args = append(c.args, args...) }
}

// Port fixes the port. For [StartCluster] it is the port of the first node,
// the others follow it. The default is a free port.
func Port(p int) Option {
	return func(c *config) { c.port = p }
}

// value returns what the arguments say for a redis setting, "" if nothing.
func (c config) value(setting string) string {
	v := ""
	for i, a := range c.args {
		if strings.EqualFold(a, "--"+setting) && i+1 < len(c.args) {
			v = c.args[i+1]
		}
	}
	return v
}
