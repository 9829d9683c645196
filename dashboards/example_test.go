package dashboards_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log"

	"github.com/goautopipe/redis-autopipe/dashboards"
)

// The dashboards can be shipped with a program, or sent to Grafana's API one by one.
func Example() {
	names, err := fs.Glob(dashboards.Files, "*.json")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		raw, err := dashboards.Files.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		var d struct{ UID, Title string }
		if err := json.Unmarshal(raw, &d); err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.UID, "is", d.Title)
	}
	// Output:
	// autopipe-batching is autopipe / Batching
	// autopipe-errors is autopipe / Errors and retries
	// autopipe-overview is autopipe / Overview
	// autopipe-redis is autopipe / Redis server
	// autopipe-runtime is autopipe / Runtime and profiling
}
