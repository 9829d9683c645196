// Command scalesim works out what a Redis Cluster of many nodes costs a client process, by a simulation (bench/scale) on
// costs that it measures with the real engine. docs/scale.md tells the story.
//
//	go run ./cmd/scalesim                                        the table for 3, 100 and 1,000 nodes
//	go run ./cmd/scalesim -nodes 30 -rate 200k -rtt 500us        for yours
//	go run ./cmd/scalesim -measure -write ../docs/scale.md       measure this machine, write the page's tables
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/goautopipe/redis-autopipe/bench/scale"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

//go:embed measured.json
var builtIn []byte

func main() {
	target.ServeLink() // does not return if this process is the slow link
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "scalesim:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	m, err := o.readings(ctx, progress)
	if err != nil {
		return err
	}
	if o.write == "" {
		_, err = fmt.Fprint(out, forecasts(m, o.list))
		return err
	}
	page, err := os.ReadFile(o.write)
	if err != nil {
		return err
	}
	text, err := render(string(page), sections(m))
	if err != nil {
		return fmt.Errorf("%s: %w", o.write, err)
	}
	return os.WriteFile(o.write, []byte(text), 0o644)
}

// readings are measured now, or read.
func (o *options) readings(ctx context.Context, progress io.Writer) (*scale.Measured, error) {
	text := builtIn
	switch {
	case o.measure:
		m, err := measure(ctx, func(f string, a ...any) { fmt.Fprintf(progress, f+"\n", a...) })
		if err != nil {
			return nil, err
		}
		return m, save(o.out, m)
	case o.measured != "":
		var err error
		if text, err = os.ReadFile(o.measured); err != nil {
			return nil, err
		}
	}
	m := new(scale.Measured)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("readings: %w", err)
	}
	return m, nil
}
