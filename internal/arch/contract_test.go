package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// testName matches what docs/contract.md may name as a test, in backquotes.
var testName = regexp.MustCompile("`((?:Test|Benchmark|Fuzz|Example)[A-Za-z0-9_]*)`")

// place matches the folder of the test that was named just before.
var place = regexp.MustCompile(`^ \(([a-z0-9/]+)\)`)

// TestContractNamesRealTests: every test that docs/contract.md names exists, in the folder given or else in autopipe, and
// every promise has one or says that it has none.
func TestContractNamesRealTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	exists := testFunctions(t)
	rows := 0
	for i, line := range strings.Split(string(page), "\n") {
		names := testName.FindAllStringSubmatchIndex(line, -1)
		for _, m := range names {
			name, dir := line[m[2]:m[3]], "autopipe"
			if p := place.FindStringSubmatch(line[m[1]:]); p != nil {
				dir = p[1]
			}
			if !exists[dir+"."+name] {
				t.Errorf("line %d: there is no %s in %s", i+1, name, dir)
			}
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || line == "| promise | test |" {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 {
			t.Errorf("line %d is not one promise and its tests: %s", i+1, line)
		} else if !testName.MatchString(cells[1]) && !strings.HasPrefix(cells[1], "not yet tested") {
			t.Errorf("line %d names no test and does not say so: %s", i+1, line)
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows were read", rows)
	}
}

// testFunctions are the functions in all test files of the repository, as folder.name.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				found[filepath.ToSlash(dir)+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
