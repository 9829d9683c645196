package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goautopipe/redis-autopipe/bench/profiling"
)

// render tables and flame graphs of the profiles that were taken; the first lines of
// the CPU table also go to the terminal.
func render(o *options, out io.Writer) error {
	for _, v := range profiling.Views {
		if v.File == "mutex" && !o.want.Mutex || v.File == "block" && !o.want.Block {
			continue
		}
		p, err := profiling.Read(filepath.Join(o.dir, v.File+".pprof"), v.Sample)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("%s, %s: %s", o.scenario.Name, o.variant.Name, v.Title)
		if v.File == "cpu" {
			fmt.Fprintln(out)
			if err := p.Top(out, title, 15); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(o.dir, v.Name()+".txt"), func(w io.Writer) error { return p.Top(w, title, 60) }); err != nil {
			return err
		}
		if p.Total() == 0 {
			continue // nobody waited: there is nothing to draw
		}
		if err := write(filepath.Join(o.dir, v.Name()+".svg"), func(w io.Writer) error { return p.Flame(w, title) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nwritten to %s; look closer with: go tool pprof -http=: %s\n", o.dir, filepath.Join(o.dir, "cpu.pprof"))
	return nil
}

func write(path string, f func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = f(file)
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}
