package demo

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// backend is where OTLP over HTTP and profiles arrive.
type backend struct {
	*httptest.Server
	mu       sync.Mutex
	metrics  map[string]bool
	spans    map[string]bool
	profiles int
}

func newBackend(t *testing.T) *backend {
	b := &backend{metrics: map[string]bool{}, spans: map[string]bool{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		data, err := io.ReadAll(body)
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		b.take(t, r.URL.Path, data)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) take(t *testing.T, path string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch path {
	case "/v1/metrics":
		var req metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(data, &req); err != nil {
			t.Error(err)
		}
		for _, rm := range req.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					b.metrics[m.Name] = true
				}
			}
		}
	case "/v1/traces":
		var req tracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(data, &req); err != nil {
			t.Error(err)
		}
		for _, rs := range req.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					b.spans[s.Name] = true
				}
			}
		}
	case "/ingest":
		b.profiles++
	default:
		t.Errorf("a request for %s", path)
	}
}

// What the flags promise to send arrives, at the latest when the demo ends.
func TestPushes(t *testing.T) {
	b := newBackend(t)
	d := startDemo(t, "-otlp", b.URL, "-otlp-every", "200ms", "-pyroscope", b.URL, "-traces", "0.2", "-rate", "500", "-scenarios", "")
	time.Sleep(2 * time.Second)
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range []*meter.Metric{meter.Commands, meter.Flushes, meter.QueueWait, meter.QueueDepth, meter.BuildInfo} {
		if !b.metrics[m.Name] {
			t.Errorf("no %s among %v", m.Name, b.metrics)
		}
	}
	for _, s := range []string{"operation orders", "GET", "PIPELINE"} {
		if !b.spans[s] {
			t.Errorf("no span %q among %v", s, b.spans)
		}
	}
	if b.profiles == 0 {
		t.Error("no profile")
	}
}
