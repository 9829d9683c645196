// Package histogram counts values in fixed buckets, cheaply enough to do it for every command.
//
// A goroutine that has many values at once fills a Local, which is a plain array, and merges it into a shared
// Histogram, whose buckets are atomics. One that has a single value observes it directly. Neither allocates, takes a
// lock or looks at the clock.
//
// The buckets of a Layout are the union of two sets: few bounds with round values, which Prometheus and OpenTelemetry
// export as the histogram's buckets (so that "how many took at most 1 ms" has an exact answer), and eight buckets for
// each doubling, which serve quantiles (at most 9 % off) and Prometheus's native histograms. Both exports are exact sums
// of the same counts.
//
// Values are integers in the unit of the layout: nanoseconds for Seconds, commands for Commands, bytes for Bytes.
// Only the export is in seconds.
//
// Measured on 2 cores, with others at work on them: an Observe into a Local 5 to 7 ns, its share of the merge included
// 7 to 10 ns in a batch of 256, an Observe into a Histogram 13 ns, a Load 500 ns.
package histogram
