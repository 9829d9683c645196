package telemetry

import (
	"context"
	"time"
)

// Batch is one flush: the commands that travelled together, from the cut to the last reply. A lone
// command is a batch of one.
type Batch struct {
	Pipe   string      // the hook's name (WithName)
	Node   string      // host:port on a per-node lane, else ""
	Reason FlushReason // why it left when it did
	Size   int         // commands
	Bytes  int         // approximate request bytes

	// Cut is when the batch stopped taking commands and left. It carries a monotonic reading.
	Cut time.Time
	// RoundTrip is from the cut to the last reply read. Zero at BatchStart.
	RoundTrip time.Duration
	// Err is the failure of the batch as a whole, if the connection broke under it. A server error of one
	// of its commands is not one. Nil at BatchStart.
	Err error

	// Commands has one entry for each command, in the order sent. The slice is reused: it is valid only
	// until the observer's function returns.
	Commands []Command
}

// Command is one command within a batch.
type Command struct {
	// Name is the command's lower-case name as the caller gave it. Callers can give any text: bound it
	// before it becomes a metric label.
	Name string
	// Context is the caller's own, for span links and exemplars.
	Context context.Context
	// Wait is the time in the queue: admitted to cut.
	Wait time.Duration
	// Attempt is 1 for the first sending of this command.
	Attempt int
	// Start is when the caller's call began; retries do not change it.
	Start time.Time

	// Outcome, Again, Left and Err are set at BatchEnd. Again says that the command will be sent once more, so
	// that Outcome is not its last. Left says that the caller went away while the batch travelled: Drop has
	// reported the command, as OutcomeCancelled, already.
	Outcome Outcome
	Again   bool
	Left    bool
	Err     error
	// Duration, set at BatchEnd, is from Start until the caller had its reply or went away without it: queue,
	// round trip and retries together.
	Duration time.Duration
}

// Direct is a command that did not queue, after it returned.
type Direct struct {
	Pipe     string
	Node     string
	Name     string // see Command.Name
	Reason   DirectReason
	Start    time.Time
	Duration time.Duration
	Outcome  Outcome
	// Again says that the cluster client above will send the command once more, so that Outcome is not its last.
	Again bool
	Err   error
}

// Retry is one more sending of one command.
type Retry struct {
	Pipe    string
	Node    string
	Name    string // see Command.Name
	Cause   RetryCause
	Attempt int           // the number of the sending to come; the first retry has 2
	Backoff time.Duration // the pause before it
}

// Drop is a command whose caller went away without a reply: its context ended, or the queue was full.
type Drop struct {
	Pipe    string
	Node    string
	Name    string // see Command.Name
	Outcome Outcome
	// InFlight says that the command had been sent: it may have run. Its batch reports it too, as Left.
	InFlight bool
	// Waited is from the beginning of the caller's call until it went away.
	Waited time.Duration
}

// Pipeline is one explicit pipeline or transaction of the user's, which passed the hook unchanged.
type Pipeline struct {
	Pipe     string
	Node     string
	Tx       bool
	Size     int
	Start    time.Time
	Duration time.Duration
	Err      error
}
