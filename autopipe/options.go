package autopipe

import (
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// The defaults and the range of each option. A value outside the range is clamped to its nearest end.
const (
	DefaultMaxBatch      = 512       // commands; 1 ... 65,536
	DefaultMaxBatchBytes = 128 << 10 // bytes; 1 KiB ... 64 MiB
	DefaultMaxInFlight   = 16        // batches; 1 ... 1,024
	DefaultMaxQueue      = 65536     // commands; 1 ... 16,777,216
	DefaultMaxRetries    = 3         // retries; 0 ... 100, as go-redis's own default
	maxLinger            = time.Second
)

// largePart: a request of more than this part of a batch's bytes travels alone. With 64 KiB values and batches of two,
// 256 callers had 0.57x the throughput of a plain client.
const largePart = 8

// RetryPolicy says which commands are sent again after a failure.
type RetryPolicy uint8

const (
	// RetrySafe retries a command only if that cannot run it twice: nothing was sent (dial refused, no
	// connection free), the server refused to run it (LOADING, READONLY, MASTERDOWN, CLUSTERDOWN, TRYAGAIN,
	// NOREPLICAS, max clients; not for scripts, which can return such texts themselves), or running it twice
	// makes no difference (reads, and writes like SET key value). Any other write whose connection breaks
	// returns *UncertainError. This is the default.
	RetrySafe RetryPolicy = iota
	// RetryNone retries nothing.
	RetryNone
	// RetryLikeGoRedis leaves retries to go-redis: up to Options.MaxRetries times it sends the whole batch
	// again when its connection breaks or its first command is refused, so commands may run more than once.
	RetryLikeGoRedis
)

// String is the policy's name.
func (p RetryPolicy) String() string {
	switch p {
	case RetrySafe:
		return "safe"
	case RetryNone:
		return "none"
	case RetryLikeGoRedis:
		return "like-go-redis"
	}
	return "unknown"
}

// Option changes one setting of a Hook.
type Option func(*config)

type config struct {
	name          string
	maxBatch      int
	maxBatchBytes int
	maxInFlight   int
	maxQueue      int
	linger        time.Duration
	retry         RetryPolicy
	maxRetries    int
	minBackoff    time.Duration
	maxBackoff    time.Duration
	block         bool
	caching       bool
	merge         bool
	direct        []string
	batched       []string
	observers     []telemetry.Observer
}

func newConfig(opts []Option) config {
	c := config{
		name:          "default",
		maxBatch:      DefaultMaxBatch,
		maxBatchBytes: DefaultMaxBatchBytes,
		maxInFlight:   DefaultMaxInFlight,
		maxQueue:      DefaultMaxQueue,
		maxRetries:    DefaultMaxRetries,
		minBackoff:    8 * time.Millisecond,   // go-redis's defaults,
		maxBackoff:    512 * time.Millisecond, // Options.MinRetryBackoff and MaxRetryBackoff
	}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	c.maxBatch = min(max(c.maxBatch, 1), 65536)
	c.maxBatchBytes = min(max(c.maxBatchBytes, 1<<10), 64<<20)
	c.maxInFlight = min(max(c.maxInFlight, 1), 1024)
	c.maxQueue = min(max(c.maxQueue, 1), 1<<24)
	c.linger = min(max(c.linger, 0), maxLinger)
	c.maxRetries = min(max(c.maxRetries, 0), 100)
	c.minBackoff = min(max(c.minBackoff, 0), time.Minute)
	c.maxBackoff = min(max(c.maxBackoff, c.minBackoff), time.Minute)
	if c.retry > RetryLikeGoRedis {
		c.retry = RetrySafe
	}
	if c.name == "" {
		c.name = "default"
	}
	return c
}

// WithName names the hook in telemetry (label "pipe"). Default "default".
func WithName(name string) Option { return func(c *config) { c.name = name } }

// WithMaxBatch sets how many commands a batch may hold, 1 to 65,536. Default 512. With 1 nothing is shared.
func WithMaxBatch(commands int) Option { return func(c *config) { c.maxBatch = commands } }

// WithMaxBatchBytes sets about how many bytes of requests a batch may hold, 1 KiB to 64 MiB. Default 128 KiB. A
// command that takes more than an eighth of it goes to the server directly: sharing saves it little, and the pool's
// connections carry several such at once.
func WithMaxBatchBytes(bytes int) Option { return func(c *config) { c.maxBatchBytes = bytes } }

// WithMaxInFlight sets how many batches of one lane may be on their way at once, 1 to 1,024. Default 16. Within
// it the lane finds the number by itself, from the round trips it sees. Each batch in flight uses a connection
// of the client's pool, so a limit above Options.PoolSize only moves the waiting there.
func WithMaxInFlight(batches int) Option { return func(c *config) { c.maxInFlight = batches } }

// WithMaxQueue sets how many commands of one lane may wait for a batch, 1 to 16,777,216. Default 65,536. A command
// beyond it returns ErrQueueFull at once.
func WithMaxQueue(commands int) Option { return func(c *config) { c.maxQueue = commands } }

// WithBlockOnFull makes a command that finds the queue full wait for room, until its context ends, instead of returning
// ErrQueueFull.
func WithBlockOnFull() Option { return func(c *config) { c.block = true } }

// WithClientSideCache says that a client with this hook uses go-redis's client-side caching. Its cache answers single
// commands only, so reads then go directly. Attach sees this by itself, and so does a hook that is added before the first
// connection is made and whose batches do not all come from a pipeline pool (as with WithLinger). A hook with a caching
// client sends the reads of all its clients directly: give other clients a hook of their own.
func WithClientSideCache() Option { return func(c *config) { c.caching = true } }

// WithMergePipelines lets explicit pipelines (Pipeline, Pipelined) of many goroutines share batches too. Each keeps its
// order, stays in one batch, and gets the result and error that Exec gives; failures are handled command by command as
// WithRetry says, where go-redis sends the whole pipeline again. Transactions, and pipelines with a command that must not
// share, pass unchanged.
func WithMergePipelines() Option { return func(c *config) { c.merge = true } }

// WithLinger makes a batch that is not full wait up to d for more commands, at most one second. Default 0: a
// batch takes what has come by the time it can leave, and no timer is used. Every command waits, a lone one too,
// so this pays only where fewer round trips matter more than latency.
func WithLinger(d time.Duration) Option { return func(c *config) { c.linger = d } }

// WithRetry sets which commands are sent again after a failure. Default RetrySafe.
func WithRetry(p RetryPolicy) Option { return func(c *config) { c.retry = p } }

// WithMaxRetries sets how often one command is sent again under RetrySafe, 0 to 100. Default 3, as go-redis's
// own Options.MaxRetries, which a hook cannot see: set both alike.
func WithMaxRetries(n int) Option { return func(c *config) { c.maxRetries = n } }

// WithRetryBackoff sets the least and the greatest pause before a retry under RetrySafe, each 0 to one minute.
// Defaults 8 ms and 512 ms; the pause doubles with each retry and is drawn at random below that, as in go-redis.
func WithRetryBackoff(least, greatest time.Duration) Option {
	return func(c *config) { c.minBackoff, c.maxBackoff = least, greatest }
}

// WithDirect names commands that shall never join a batch, for example those known to be slow. Case does not
// matter.
func WithDirect(names ...string) Option {
	return func(c *config) { c.direct = append(c.direct, names...) }
}

// WithBatched names commands of server modules, or others that autopipe does not know, that may join batches. Name
// only commands that do not block and do not touch the state of their connection, and call them with the reply
// type that fits: a reply that cannot be read breaks the connection for the commands behind it. Commands that
// autopipe sends directly for another reason still are.
func WithBatched(names ...string) Option {
	return func(c *config) { c.batched = append(c.batched, names...) }
}

// WithObserver adds observers, which hear of every batch, direct command, retry and drop. See package telemetry.
func WithObserver(observers ...telemetry.Observer) Option {
	return func(c *config) {
		for _, o := range observers {
			if o != nil {
				c.observers = append(c.observers, o)
			}
		}
	}
}
