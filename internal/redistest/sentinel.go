package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	masterName      = "mymaster"
	sentinelConf    = "sentinel.conf"
	sentinelTimeout = 40 * time.Second
)

// Sentinel is a master with replicas, watched by sentinels.
type Sentinel struct {
	Servers   []*Server // the first is the master at the start
	Sentinels []*Server
}

// StartSentinel starts a master, its replicas and the sentinels, and returns
// when the sentinels know each other and all replicas are in sync. The options
// are for the data servers. A master that does not answer for a second is
// replaced. The caller must Close it.
func StartSentinel(replicas, sentinels int, opts ...Option) (*Sentinel, error) {
	if replicas < 0 || sentinels < 1 {
		return nil, errors.New("redistest: needs a sentinel")
	}
	s := &Sentinel{}
	if err := s.form(replicas, sentinels, opts); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// RunSentinel is [StartSentinel] for one test: it fails the test on an error
// and closes everything with the test.
func RunSentinel(tb TB, replicas, sentinels int, opts ...Option) *Sentinel {
	tb.Helper()
	s, err := StartSentinel(replicas, sentinels, opts...)
	return must(tb, s, err)
}

func (s *Sentinel) form(replicas, sentinels int, opts []Option) error {
	master, err := Start(opts...)
	if err != nil {
		return err
	}
	s.Servers = []*Server{master}
	list, err := startAll(replicas, func(int) (*Server, error) {
		return Start(append([]Option{Args("--replicaof", loopback+" "+strconv.Itoa(master.port))}, opts...)...)
	})
	if err != nil {
		return err
	}
	s.Servers = append(s.Servers, list...)
	// A sentinel asks the master for its replicas only now and then: it should
	// find all of them the first time.
	err = await(sentinelTimeout, "replicas in sync", func() error {
		info, err := master.Info("replication")
		if err != nil {
			return err
		}
		if n := strings.Count(fmt.Sprint(info), "state=online"); n != replicas {
			return fmt.Errorf("%d of %d replicas are in sync", n, replicas)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Sentinels, err = startAll(sentinels, func(i int) (*Server, error) {
		return startSentinel(master.port, i)
	})
	if err != nil {
		return err
	}
	return s.WaitReady()
}

// startSentinel starts sentinel number i. Unlike a server it needs a file for
// its configuration, as it writes down there what it learns.
//
// Each notices a dead master a little later than the one before, and one is
// enough to begin (quorum 1; it still needs the votes of most). When all begin
// at once, each votes for itself, nobody wins, and seconds pass until the next
// try.
func startSentinel(masterPort, i int) (*Server, error) {
	conf := fmt.Sprintf("bind %[1]s\nsentinel monitor %[2]s %[1]s %[3]d 1\n"+
		"sentinel down-after-milliseconds %[2]s %[4]d\nsentinel failover-timeout %[2]s 2000\n",
		loopback, masterName, masterPort, 1000+500*i)
	return start(config{}, []string{sentinelConf, "--sentinel"}, func(s *Server) error {
		// Newer sentinels can be told to talk more often; others take longer.
		s.tune = []string{"SENTINEL", "DEBUG", "INFO-PERIOD", "500", "PUBLISH-PERIOD", "300",
			"PING-PERIOD", "200", "ASK-PERIOD", "200"}
		return os.WriteFile(filepath.Join(s.dir, sentinelConf), []byte(conf), 0o600)
	})
}

// WaitReady waits until every sentinel that runs sees the master, all replicas
// and all other sentinels in good health. Use it after a Restart.
func (s *Sentinel) WaitReady() error {
	return await(sentinelTimeout, "sentinels ready", func() error {
		for _, n := range s.Sentinels {
			m, err := n.fields("SENTINEL", "MASTER", masterName)
			if err != nil {
				return err
			}
			if m["flags"] != "master" || m["num-slaves"] != strconv.Itoa(len(s.Servers)-1) ||
				m["num-other-sentinels"] != strconv.Itoa(len(s.Sentinels)-1) {
				return fmt.Errorf("%s sees %s with %s replicas and %s other sentinels",
					n.Addr(), m["flags"], m["num-slaves"], m["num-other-sentinels"])
			}
			v, err := n.Do("SENTINEL", "REPLICAS", masterName)
			if err != nil {
				return err
			}
			replicas, _ := v.([]any)
			for _, r := range replicas {
				if f := fields(r); f["flags"] != "slave" || f["master-link-status"] != "ok" {
					return fmt.Errorf("%s sees replica %s as %s, link %s", n.Addr(), f["name"], f["flags"], f["master-link-status"])
				}
			}
		}
		return nil
	})
}

// fields runs a command whose reply is a list of names and values.
func (s *Server) fields(args ...string) (map[string]string, error) {
	v, err := s.Do(args...)
	return fields(v), err
}

func fields(v any) map[string]string {
	list, _ := v.([]any)
	m := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return m
}

// MasterName returns the name under which the sentinels know the master.
func (s *Sentinel) MasterName() string { return masterName }

// Addrs returns the addresses of the sentinels.
func (s *Sentinel) Addrs() []string { return addrs(s.Sentinels) }

// Master returns the server that all sentinels name as the master, and an error
// while they do not agree or it does not say the same of itself.
func (s *Sentinel) Master() (*Server, error) {
	var port string
	for _, n := range s.Sentinels {
		v, err := n.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
		if err != nil {
			return nil, err
		}
		addr, _ := v.([]any)
		if len(addr) != 2 || port != "" && addr[1] != any(port) {
			return nil, errors.New("redistest: the sentinels do not agree on a master")
		}
		port = fmt.Sprint(addr[1])
	}
	for _, m := range s.Servers {
		if strconv.Itoa(m.port) != port {
			continue
		}
		info, err := m.Info("replication")
		if err != nil {
			return nil, err
		}
		if info["role"] != "master" {
			return nil, fmt.Errorf("redistest: %s is not a master yet", m.Addr())
		}
		return m, nil
	}
	return nil, fmt.Errorf("redistest: no server has port %s", port)
}

// Failover kills the master, waits until the sentinels have made a replica the
// new one, and returns that. The old master stays down until its Restart.
func (s *Sentinel) Failover() (*Server, error) {
	old, err := s.Master()
	if err != nil {
		return nil, err
	}
	if err := old.Kill(); err != nil {
		return nil, err
	}
	var now *Server
	err = await(sentinelTimeout, "failover", func() (err error) {
		if now, err = s.Master(); err == nil && now == old {
			err = errors.New("the dead master is still the master")
		}
		return err
	})
	return now, err
}

// Client returns a go-redis client that follows the master, closed at the end
// of the test.
func (s *Sentinel) Client(tb TB, opts ...func(*redis.FailoverOptions)) *redis.Client {
	tb.Helper()
	o := &redis.FailoverOptions{MasterName: masterName, SentinelAddrs: s.Addrs()}
	for _, f := range opts {
		f(o)
	}
	c := redis.NewFailoverClient(o)
	closeAfter(tb, c)
	return c
}

// Close ends all servers and sentinels. It may be called more than once.
func (s *Sentinel) Close() error {
	return errors.Join(closeAll(s.Sentinels), closeAll(s.Servers))
}
