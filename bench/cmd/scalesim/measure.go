package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/scale"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

// measure takes all readings with the real engine, against a server of its own.
func measure(ctx context.Context, say func(string, ...any)) (*scale.Measured, error) {
	srv, err := target.Open("")
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	if !srv.Own() {
		return nil, errors.New("the server's CPU time is read too, so it must be our own: unset REDIS_HOST and REDIS_ADDR")
	}
	info := probe.NewServer(srv.Addr())
	defer info.Close()
	version, err := info.Version(ctx)
	if err != nil {
		return nil, err
	}
	m := &scale.Measured{Machine: report.ThisMachine(version), Date: time.Now().UTC().Format(time.DateOnly)}

	say("idle nodes")
	for _, n := range []int{100, 1000} {
		i, err := idle(ctx, srv.Addr(), n)
		if err != nil {
			return nil, err
		}
		m.Idle = append(m.Idle, i)
	}
	if m.Series, err = measureSeries(ctx, srv.Addr()); err != nil {
		return nil, err
	}
	if m.CPU, err = measureCosts(ctx, srv.Addr(), say); err != nil {
		return nil, err
	}
	m.Points = points()
	if m.Links, err = measureLinks(ctx, srv, m.Points); err != nil {
		return nil, err
	}
	begin, busy := time.Now(), probe.BusyTime()
	own := probe.ReadProcess()
	before, err := info.Read(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range m.Points {
		say("point %d of %d: %d nodes, %v commands/s, %v", i+1, len(m.Points), p.Nodes, p.Rate, p.Delay)
		if err := measurePoint(ctx, srv, p); err != nil {
			return nil, err
		}
	}
	after, err := info.Read(ctx)
	if err != nil {
		return nil, err
	}
	// The link's own processor time is among the others'; the file does not hide that.
	ours := probe.ReadProcess().Sub(own).CPU + after.Sub(before).CPU
	all := time.Since(begin) * time.Duration(runtime.NumCPU())
	m.Others = round(max(0, float64(probe.BusyTime()-busy-ours)/float64(all)), 1000)
	return m, nil
}

func save(path string, m *scale.Measured) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
