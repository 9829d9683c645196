package board

import (
	"fmt"
	"strings"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// flushAdvice says for each flush reason what to turn. What the reason means is telemetry's to say.
var flushAdvice = [telemetry.NumFlushReasons]string{
	telemetry.FlushIdle: "Nothing to turn: this is the shortest way. If you expected batches, more goroutines must share the client, " +
		"or use `Submit` or a `Window`.",
	telemetry.FlushDrain: "Nothing to turn: batches follow each other and grow with the load. If queue wait hurts, the server or the " +
		"network is the limit: look at the round trip.",
	telemetry.FlushSize:  "If it is frequent and queue wait is high, raise `WithMaxBatch`. The limit bounds how long one batch keeps the server.",
	telemetry.FlushBytes: "If it is frequent, raise `WithMaxBatchBytes`, or look for large values: a request above an eighth of it goes directly.",
	telemetry.FlushLinger: "Commands wait for company on purpose. If the batches stay small, lower `WithLinger` or leave it out: natural " +
		"batching needs no timer.",
	telemetry.FlushWindow: "Nothing to turn: the application decides. If windows are much smaller than `WithMaxBatch`, submit larger ones.",
}

func flushHelp() string {
	rows := []string{"| reason | meaning | what to turn |", "|---|---|---|"}
	for i, advice := range flushAdvice {
		r := telemetry.FlushReason(i)
		rows = append(rows, fmt.Sprintf("| **%s** | %s | %s |", r, r.Doc(), advice))
	}
	return strings.Join(rows, "\n")
}

// word is a text about the values of one label.
type word struct{ title, text string }

// words explain outcomes, causes and direct reasons in telemetry's own words.
func words() []word {
	return []word{
		{"Outcomes", list(telemetry.NumOutcomes, func(i int) documented { return telemetry.Outcome(i) })},
		{"Causes of retries", list(telemetry.NumRetryCauses, func(i int) documented { return telemetry.RetryCause(i) })},
		{"Why commands go directly", list(telemetry.NumDirectReasons, func(i int) documented { return telemetry.DirectReason(i) })},
	}
}

type documented interface {
	fmt.Stringer
	Doc() string
}

func list(n int, value func(int) documented) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf("- **%s** %s", value(i), value(i).Doc()))
	}
	return strings.Join(items, "\n")
}
