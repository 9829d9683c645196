package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// handler serves what the demo shows.
func (d *Demo) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.tele.registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, Registry: d.tele.registry,
	}))
	mux.HandleFunc("GET /healthz", d.healthz)
	mux.HandleFunc("GET /stats", d.stats)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// healthz says whether Redis answers. It goes past the pipes, whose faults are wanted.
func (d *Demo) healthz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := d.bare.Ping(ctx).Err(); err != nil {
		http.Error(w, "Redis does not answer: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// stats is what autopipe itself says of each pipe.
func (d *Demo) stats(w http.ResponseWriter, _ *http.Request) {
	all := map[string]autopipe.Stats{}
	for _, p := range d.pipes {
		all[p.name] = p.hook.Stats()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(all)
}
