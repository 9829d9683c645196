// Command gen writes the dashboards and rules into a directory:
//
//	go run . ../
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/board"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/rules"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(flag.CommandLine.Output(), "usage: gen DIRECTORY"); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write makes all files below dir.
func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes all files, by their path.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	boards, err := board.All()
	if err != nil {
		return nil, err
	}
	for name, d := range boards {
		out, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return nil, err
		}
		files[name] = append(out, '\n')
	}
	yml, err := rules.Files()
	if err != nil {
		return nil, err
	}
	for name, content := range yml {
		files["rules/"+name] = content
	}
	return files, nil
}
