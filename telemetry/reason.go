package telemetry

// FlushReason says why a batch left when it did. The set is closed.
type FlushReason uint8

const (
	FlushIdle FlushReason = iota
	FlushDrain
	FlushSize
	FlushBytes
	FlushLinger
	FlushWindow

	NumFlushReasons = iota
)

// DirectReason says why a command did not queue but went to the server on its own. The set is closed.
type DirectReason uint8

const (
	DirectBlocking DirectReason = iota
	DirectConnection
	DirectTransaction
	DirectFanOut
	DirectAdmin
	DirectModule
	DirectUnknown
	DirectLarge
	DirectEncoder
	DirectReader
	DirectCacheable
	DirectExcluded
	DirectUnpaired

	NumDirectReasons = iota
)

// Outcome is how one command ended, as its caller saw it. The set is closed, and every command
// has exactly one.
type Outcome uint8

const (
	OutcomeOK Outcome = iota
	OutcomeNil
	OutcomeServerError
	OutcomeTransportError
	OutcomeUncertain
	OutcomeCancelled
	OutcomeRejected

	NumOutcomes = iota
)

// RetryCause is the failure after which a command was sent again. The set is closed.
type RetryCause uint8

const (
	RetryDial RetryCause = iota
	RetryPool
	RetryTransport
	RetryLoading
	RetryReadOnly
	RetryMasterDown
	RetryClusterDown
	RetryTryAgain
	RetryNoReplicas
	RetryMaxClients
	RetryMoved
	RetryAsk

	NumRetryCauses = iota
)

// label is the name of a reason as metrics show it, and the sentence that explains it.
type label struct{ name, doc string }

var flushReasons = [NumFlushReasons]label{
	FlushIdle:   {"idle", "A place was free: the command, or those that came with it, left without waiting for any other batch."},
	FlushDrain:  {"drain", "A finished batch handed its place on: the commands had queued while it travelled."},
	FlushSize:   {"size", "The batch was full: it held as many commands as WithMaxBatch allows."},
	FlushBytes:  {"bytes", "The batch was full: one more command would have passed WithMaxBatchBytes."},
	FlushLinger: {"linger", "The batch waited as long as WithLinger allows and then left."},
	FlushWindow: {"window", "A submitted window filled the batch."},
}

var directReasons = [NumDirectReasons]label{
	DirectBlocking:    {"blocking", "The command may wait on the server (BLPOP, XREAD BLOCK, WAIT ...) and would hold its neighbours up."},
	DirectConnection:  {"connection", "The command reads or changes the state of its connection (SELECT, AUTH, CLIENT, SUBSCRIBE ...)."},
	DirectTransaction: {"transaction", "The command belongs to a transaction (MULTI, EXEC, DISCARD, WATCH, UNWATCH)."},
	DirectFanOut:      {"fanout", "On a cluster or ring go-redis may ask several nodes and merge the answers (DBSIZE, KEYS, SCRIPT LOAD; there also MGET, DEL ...)."},
	DirectAdmin:       {"admin", "The command manages the server and may take long or end the connection (SHUTDOWN, DEBUG, MIGRATE ...)."},
	DirectModule:      {"module", "The command belongs to a server module; WithBatched lets it join batches."},
	DirectUnknown:     {"unknown", "The command, or its pairing with this reply type, is not in autopipe's table; WithBatched lets it join batches."},
	DirectLarge:       {"large", "The request alone is larger than an eighth of WithMaxBatchBytes."},
	DirectEncoder:     {"encoder", "An argument cannot be encoded, so go-redis will refuse the command."},
	DirectReader:      {"reader", "The reply goes into the caller's own buffer or writer, where reading may fail or be slow (GetToBuffer, RawWriteTo)."},
	DirectCacheable:   {"cacheable", "Client-side caching is on and the read may be answered without the server."},
	DirectExcluded:    {"excluded", "WithDirect names the command, or autopipe.Direct marked its context."},
	DirectUnpaired:    {"unpaired", "go-redis ran the command outside its usual hook chain, so its pipeline is not known."},
}

var outcomes = [NumOutcomes]label{
	OutcomeOK:             {"ok", "The server answered."},
	OutcomeNil:            {"nil", "The server answered that there is no such value (redis.Nil); no error."},
	OutcomeServerError:    {"server_error", "The server answered with an error."},
	OutcomeTransportError: {"transport_error", "No answer was had, and the command did not run or is safe to run again."},
	OutcomeUncertain:      {"uncertain", "No answer was had and the command may have run: the caller got *UncertainError."},
	OutcomeCancelled:      {"cancelled", "The caller's context ended first."},
	OutcomeRejected:       {"rejected", "The queue was full (ErrQueueFull)."},
}

var retryCauses = [NumRetryCauses]label{
	RetryDial:        {"dial", "No connection could be made, so nothing was sent."},
	RetryPool:        {"pool", "No connection came free in time, so nothing was sent."},
	RetryTransport:   {"transport", "The connection failed under a command that is safe to run twice."},
	RetryLoading:     {"loading", "LOADING: the server is loading its data."},
	RetryReadOnly:    {"readonly", "READONLY: a replica was asked to write, as after a failover."},
	RetryMasterDown:  {"masterdown", "MASTERDOWN: the replica has lost its master."},
	RetryClusterDown: {"clusterdown", "CLUSTERDOWN: the cluster cannot serve the slot."},
	RetryTryAgain:    {"tryagain", "TRYAGAIN: the keys are being moved between nodes."},
	RetryNoReplicas:  {"noreplicas", "NOREPLICAS: too few replicas for the write."},
	RetryMaxClients:  {"maxclients", "The server has reached its number of clients."},
	RetryMoved:       {"moved", "MOVED: the slot has gone to another node, where the cluster client sends the command next."},
	RetryAsk:         {"ask", "ASK: the key is on its way to another node, where the cluster client sends the command next."},
}

func at(set []label, i uint8) label {
	if int(i) < len(set) {
		return set[i]
	}
	return label{name: "other"}
}

// String is the reason's name as metrics show it.
func (r FlushReason) String() string { return at(flushReasons[:], uint8(r)).name }

// Doc is one sentence that explains the reason.
func (r FlushReason) Doc() string { return at(flushReasons[:], uint8(r)).doc }

// String is the reason's name as metrics show it.
func (r DirectReason) String() string { return at(directReasons[:], uint8(r)).name }

// Doc is one sentence that explains the reason.
func (r DirectReason) Doc() string { return at(directReasons[:], uint8(r)).doc }

// String is the outcome's name as metrics show it.
func (o Outcome) String() string { return at(outcomes[:], uint8(o)).name }

// Doc is one sentence that explains the outcome.
func (o Outcome) Doc() string { return at(outcomes[:], uint8(o)).doc }

// String is the cause's name as metrics show it.
func (c RetryCause) String() string { return at(retryCauses[:], uint8(c)).name }

// Doc is one sentence that explains the cause.
func (c RetryCause) Doc() string { return at(retryCauses[:], uint8(c)).doc }
