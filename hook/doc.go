// Package hook is where go-redis meets autopipe. It pairs the two "next" functions that go-redis hands
// out for one client (Pairer, Chain) and says of each command whether it may share a pipeline (Classifier).
//
// It knows nothing of batches or telemetry; package autopipe is built on it.
package hook
