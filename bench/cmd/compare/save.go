package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goautopipe/redis-autopipe/bench/report"
)

// save writes all files of a comparison to dir: <plan>.json, <plan>.txt, the plots,
// and README.md. A plan's files replace those of its last run.
func save(r *report.Results, dir string, log io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	plots, err := r.Plots(dir)
	if err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		r.Plan + ".json": r.WriteJSON,
		r.Plan + ".txt":  r.Benchstat,
		"README.md":      func(w io.Writer) error { return r.Page(w, plots) },
	} {
		if err := writeFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(log, "\nwritten to %s: README.md, %s.json, %s.txt (benchstat -col /variant), %d plots\n", dir, r.Plan, r.Plan, 2*len(plots))
	return err
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
