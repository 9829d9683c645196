package push

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// upload is what one POST /ingest brought.
type upload struct {
	name    string // application and labels
	header  http.Header
	user    string
	pass    string
	profile *profile.Profile
	config  map[string]any // sample types as Pyroscope is to show them
}

// receiver is a Pyroscope server as far as a pushing client can tell.
type receiver struct {
	t *testing.T
	*httptest.Server
	mu      sync.Mutex
	uploads []upload
}

func receive(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost || req.URL.Path != "/ingest" {
		r.t.Errorf("%s %s", req.Method, req.URL.Path)
	}
	u := upload{name: req.URL.Query().Get("name"), header: req.Header.Clone()}
	u.user, u.pass, _ = req.BasicAuth()
	form, err := req.MultipartReader()
	if err != nil {
		r.t.Error(err)
		return
	}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			r.t.Error(err)
			return
		}
		body, _ := io.ReadAll(part)
		switch part.FormName() {
		case "profile":
			if u.profile, err = profile.Parse(bytes.NewReader(body)); err != nil {
				r.t.Errorf("a pushed body is no profile: %v", err)
				return
			}
		case "sample_type_config":
			if err := json.Unmarshal(body, &u.config); err != nil {
				r.t.Error(err)
			}
		}
	}
	for _, key := range []string{"from", "until", "spyName"} {
		if req.URL.Query().Get(key) == "" {
			r.t.Errorf("an upload without %q", key)
		}
	}
	r.mu.Lock()
	r.uploads = append(r.uploads, u)
	r.mu.Unlock()
}

// types of all samples that came, each once.
func (r *receiver) types() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]bool{}
	for _, u := range r.uploads {
		for _, t := range u.profile.SampleType {
			out[t.Type] = true
		}
	}
	return out
}

var sink []byte

// busy uses the processor, the heap and a contended lock.
func busy(d time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for end := time.Now().Add(d); time.Now().Before(end); {
				mu.Lock()
				sink = make([]byte, 10_000)
				for i := range sink {
					sink[i] = byte(i)
				}
				mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}

func TestPushedProfiles(t *testing.T) {
	srv := receive(t)
	old := runtime.SetMutexProfileFraction(1)
	defer runtime.SetMutexProfileFraction(old)
	s, err := Start(Config{
		URL: srv.URL, User: "me", Password: "secret", Tenant: "team", Mutex: true,
		Tags: map[string]string{"scenario": "set256", "variant": "autopipe", "commit": "abc 1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	busy(500 * time.Millisecond)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	types := srv.types()
	for _, want := range []string{"cpu", "alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "goroutine", "contentions", "delay"} {
		if !types[want] {
			t.Errorf("no %s was pushed, only %v", want, types)
		}
	}
	var cpu int64
	for _, u := range srv.uploads {
		for _, want := range []string{App, "scenario=set256", "variant=autopipe", "commit=abc_1"} {
			if !strings.Contains(u.name, want) {
				t.Errorf("%q lacks %q", u.name, want)
			}
		}
		if u.user != "me" || u.pass != "secret" {
			t.Errorf("authenticated as %q with %q", u.user, u.pass)
		}
		if got := u.header.Get("X-Scope-OrgID"); got != "team" {
			t.Errorf("tenant %q", got)
		}
		for i, st := range u.profile.SampleType {
			if st.Type != "cpu" {
				continue
			}
			if st.Unit != "nanoseconds" {
				t.Errorf("cpu in %s", st.Unit)
			}
			for _, sample := range u.profile.Sample {
				cpu += sample.Value[i]
			}
		}
	}
	if cpu < int64(100*time.Millisecond) {
		t.Errorf("the pushed profiles hold %v of CPU time", time.Duration(cpu))
	}
}

func TestToken(t *testing.T) {
	srv := receive(t)
	t.Setenv("PYROSCOPE_URL", srv.URL)
	t.Setenv("PYROSCOPE_TOKEN", "t0ken")
	t.Setenv("PYROSCOPE_USER", "ignored")
	t.Setenv("PYROSCOPE_PASSWORD", "ignored")
	c, ok := FromEnv()
	if !ok {
		t.Fatal("the environment asks for a push")
	}
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	busy(50 * time.Millisecond)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(srv.uploads) == 0 {
		t.Fatal("nothing was pushed")
	}
	for _, u := range srv.uploads {
		if got := u.header.Get("Authorization"); got != "Bearer t0ken" {
			t.Errorf("Authorization: %q", got)
		}
	}
	if types := srv.types(); types["contentions"] {
		t.Error("a contention profile was pushed unasked")
	}
}

func TestRefusalIsReported(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you", http.StatusUnauthorized)
	}))
	defer srv.Close()
	s, err := Start(Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	busy(20 * time.Millisecond)
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("refused uploads end with %v", err)
	}
}

func TestNoURLNoPush(t *testing.T) {
	t.Setenv("PYROSCOPE_URL", "")
	if _, ok := FromEnv(); ok {
		t.Error("pushes without a URL")
	}
}
