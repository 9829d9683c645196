package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Jobs of the Prometheus.
const (
	JobDemo       = "autopipe"
	JobRedis      = "redis"
	JobPrometheus = "prometheus"
)

// config writes Prometheus's configuration. Its language is YAML, of which JSON is a part.
func config(every time.Duration, rules []string, targets map[string]string) ([]byte, error) {
	type static struct {
		Targets []string `json:"targets"`
	}
	type job struct {
		Name   string   `json:"job_name"`
		Static []static `json:"static_configs"`
	}
	var jobs []job
	for _, name := range []string{JobDemo, JobRedis, JobPrometheus} {
		jobs = append(jobs, job{name, []static{{[]string{targets[name]}}}})
	}
	return json.MarshalIndent(map[string]any{
		"global":         map[string]any{"scrape_interval": every.String(), "scrape_timeout": every.String(), "evaluation_interval": every.String()},
		"rule_files":     rules,
		"scrape_configs": jobs,
	}, "", "  ")
}

// up reports which jobs Prometheus scrapes with success.
func up(ctx context.Context, prometheus string) (map[string]bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, prometheus+"/api/v1/query?query=up", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Metric struct{ Job string }
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the answer of Prometheus: %s: %w", resp.Status, err)
	}
	jobs := map[string]bool{}
	for _, r := range answer.Data.Result {
		jobs[r.Metric.Job] = r.Value[1] == "1"
	}
	return jobs, nil
}

// ready waits until every job is scraped.
func (s *Stack) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		jobs, err := up(ctx, s.Prometheus)
		var down []string
		for _, j := range []string{JobDemo, JobRedis, JobPrometheus} {
			if !jobs[j] {
				down = append(down, j)
			}
		}
		if err == nil && len(down) == 0 {
			return nil
		}
		select {
		case err := <-s.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("the stack did not get ready: not scraped: %s (last error: %v)", strings.Join(down, ", "), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
