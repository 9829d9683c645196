package redistest

import (
	"fmt"
	"strconv"
	"strings"
)

// Info returns the fields of one section of INFO, such as "clients"; the empty
// section gives the default ones.
func (s *Server) Info(section string) (map[string]string, error) {
	args := []string{"INFO"}
	if section != "" {
		args = append(args, section)
	}
	text, err := s.text(args...)
	if err != nil {
		return nil, err
	}
	return parseInfo(text), nil
}

func parseInfo(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if k, v, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			m[k] = v
		}
	}
	return m
}

// CommandCalls returns how often the server ran a command since its start or
// the last [Server.ResetStats]. A name with subcommands, such as "client",
// counts all of them; "client|setinfo" counts that one.
func (s *Server) CommandCalls(cmd string) (int64, error) {
	info, err := s.Info("commandstats")
	if err != nil {
		return 0, err
	}
	want := "cmdstat_" + strings.ToLower(cmd)
	var sum int64
	for name, stats := range info {
		if name != want && !strings.HasPrefix(name, want+"|") {
			continue
		}
		for field := range strings.SplitSeq(stats, ",") {
			v, ok := strings.CutPrefix(field, "calls=")
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("redistest: command statistics %q: %w", stats, err)
			}
			sum += n
		}
	}
	return sum, nil
}

// ResetStats sets the counters of INFO, those of commands included, to zero.
func (s *Server) ResetStats() error {
	_, err := s.text("CONFIG", "RESETSTAT")
	return err
}
