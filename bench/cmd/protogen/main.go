// Command protogen compiles the .proto files of a folder to Go: it parses them
// itself and runs the plugins that bench/go.mod pins, so that nobody needs protoc.
//
//	go run ./cmd/protogen            writes *.pb.go and *_vtproto.pb.go beside the .proto files
//	go run ./cmd/protogen -check     says whether they are up to date, and writes nothing
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins and their parameters. "go tool" runs the version of go.mod.
var plugins = []struct{ name, parameter string }{
	{"protoc-gen-go", "paths=source_relative"},
	{"protoc-gen-go-vtproto", "paths=source_relative,features=marshal+unmarshal+size"},
}

func main() {
	dir := flag.String("dir", "payload", "folder of the .proto files")
	check := flag.Bool("check", false, "only compare")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	req, err := parse(dir)
	if err != nil {
		return err
	}
	var stale []string
	for _, p := range plugins {
		req.Parameter = proto.String(p.parameter)
		files, err := generate(p.name, req)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, f := range files {
			path := filepath.Join(dir, f.GetName())
			old, err := os.ReadFile(path)
			if err == nil && bytes.Equal(old, []byte(f.GetContent())) {
				continue
			}
			if check {
				stale = append(stale, path)
				continue
			}
			if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
			fmt.Println("wrote", path)
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("out of date: %v; run make generate", stale)
	}
	return nil
}

// parse all .proto files of a folder to what a plugin wants to be asked.
func parse(dir string) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("no .proto files in " + dir)
	}
	slices.Sort(paths)
	// The request names no compiler version: no protoc is involved, and the generated
	// files say "(unknown)" rather than something untrue.
	req := &pluginpb.CodeGeneratorRequest{}
	for _, p := range paths {
		req.FileToGenerate = append(req.FileToGenerate, filepath.Base(p))
	}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		// The comments become those of the Go types.
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), req.FileToGenerate...)
	if err != nil {
		return nil, err
	}
	// Plugins want every file after those it imports.
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		req.ProtoFile = append(req.ProtoFile, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range files {
		add(f)
	}
	return req, nil
}

// generate asks one plugin.
func generate(name string, req *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", name)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &resp); err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, errors.New(resp.GetError())
	}
	return resp.GetFile(), nil
}
