# Every target works on a fresh Debian machine with Go; what else is needed is named where it is missing.
GO      ?= go
MODULES := $(shell sed -n 's|^[[:space:]]*\(\.[^ ]*\)$$|\1|p' go.work)
CMD_DIR := bench

.PHONY: help demo test alloc stress fuzz bench bench-quick bench-full bench-smoke profile cluster generate generate-check lint fmt tidy
.PHONY: observe e2e up down scale dashboards test-dashboards dashboards-shots dashboards-render-test

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## the tour: autopipe on a real Redis, and a plain client beside it (REDIS_ADDR to use yours)
	@cd $(CMD_DIR) && $(GO) run ./cmd/tour $(ARGS)

test: redis-server promtool redis-exporter ## all tests of all modules, with the race detector, against a real redis-server
	@set -e; for m in $(MODULES); do echo "== go test -race ./... in $$m"; (cd $$m && $(GO) test -race $(TESTFLAGS) ./...); done

alloc: redis-server ## allocation counts, which are exact only without the race detector
	@$(GO) test -run 'Alloc' ./...

stress: redis-server ## the stress test for minutes (AUTOPIPE_STRESS=5m)
	AUTOPIPE_STRESS=$${AUTOPIPE_STRESS:-2m} $(GO) test -race -run TestStress -timeout 30m -v ./autopipe

fuzz: ## fuzz the classifier and the argument sizing (FUZZTIME=30s each)
	$(GO) test ./hook -run '^$$' -fuzz '^FuzzClassify$$' -fuzztime $${FUZZTIME:-30s}
	$(GO) test ./hook -run '^$$' -fuzz '^FuzzMeasure$$' -fuzztime $${FUZZTIME:-30s}

cluster: redis-server ## leave a 3-master cluster running on 16600-16602, until Ctrl-C (ARGS=-stop ends another one)
	@cd $(CMD_DIR) && $(GO) run ./cmd/cluster $(ARGS)

observe: redis-server promtool redis-exporter ## redis, the demo load and Prometheus as local processes (ARGS="-warm 90s -- command")
	@cd $(CMD_DIR) && $(GO) run ./cmd/observe $(ARGS)

e2e: redis-server promtool ## telemetry to a real Prometheus and OpenTelemetry Collector, and the files of the compose stack
	@cd e2e && GOWORK=off $(GO) test -race ./...

up: ## the same with Grafana, Tempo and Pyroscope, in containers: http://localhost:3000
	docker compose up --build --wait

down: ## stop the containers and drop their data
	docker compose down --volumes

dashboards: ## make the dashboards, rules and alerts again
	@cd dashboards/gen && $(GO) run . ..

test-dashboards: redis-server promtool redis-exporter ## every query of every panel, rule and alert against a Prometheus that scrapes the demo (3 minutes)
	@cd $(CMD_DIR) && $(GO) run ./cmd/observe -warm 90s -- $(GO) test -C ../dashboards/gen -tags live -run TestLive -count=1 -v ./check

dashboards-shots: redis-server promtool redis-exporter node chromium ## draw the dashboards to dashboards/shots, with data from the demo (4 minutes)
	npm --prefix dashboards/render ci --ignore-scripts
	npm --prefix dashboards/render run build
	cd $(CMD_DIR) && $(GO) run ./cmd/observe -warm 150s -- npm --prefix ../dashboards/render run shots

dashboards-render-test: node ## unit tests and type check of the renderer
	npm --prefix dashboards/render ci --ignore-scripts
	npm --prefix dashboards/render test
	npm --prefix dashboards/render run typecheck

scale: redis-server ## what a cluster of many nodes costs a client (ARGS="-measure -write ../docs/scale.md" measures anew)
	@cd $(CMD_DIR) && $(GO) run ./cmd/scalesim $(ARGS)

generate: redis-server ## make the generated files again
	$(GO) generate ./...
	cd $(CMD_DIR) && $(GO) run ./cmd/protogen

generate-check: generate ## fail if a committed generated file is not what the generator makes
	git diff --exit-code -- '*_gen.go' '*.pb.go'

bench: redis-server ## the comparison with all rivals, some 25 minutes; writes bench/results
	@cd $(CMD_DIR) && $(GO) run ./cmd/compare $(ARGS)

bench-quick: redis-server ## the same in under 2 minutes; writes bench/results/local, which git ignores
	@cd $(CMD_DIR) && $(GO) run ./cmd/compare -quick $(ARGS)

bench-full: redis-server ## every sweep: hours
	@cd $(CMD_DIR) && $(GO) run ./cmd/compare -full $(ARGS)

bench-smoke: redis-server ## run every Go benchmark briefly under -race, so that none rots
	@cd $(CMD_DIR) && $(GO) test -race -run '^$$' -bench . -benchtime 1x -window 100ms . ./payload

profile: redis-server ## profiles and flame graph of a scenario (ARGS="-list" names them)
	@cd $(CMD_DIR) && $(GO) run ./cmd/profile $(ARGS)

lint: ## gofmt, go vet, staticcheck
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt -w needed:"; echo "$$out"; exit 1; }
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...); done
	@cd dashboards/gen && $(GO) vet -tags live ./...
	@cd e2e && export GOWORK=off && $(GO) vet ./... && $(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...

STATICCHECK := v0.8.2

fmt: ## gofmt
	gofmt -w $$(git ls-files '*.go')

tidy: ## go mod tidy in all modules
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) mod tidy); done
	@cd e2e && GOWORK=off $(GO) mod tidy

# The tests start their own servers from redis-server, and check metrics with promtool.
.PHONY: redis-server promtool redis-exporter node chromium
redis-server:
	@test -n "$$REDIS_SERVER" || { $(call need,redis-server,redis-server); }

promtool:
	@$(call need,promtool,prometheus)

redis-exporter:
	@$(call need,prometheus-redis-exporter,prometheus-redis-exporter)

node:
	@$(call need,npm,npm)

chromium:
	@$(call need,chromium,chromium)

# need installs a Debian package if its program is missing and that is possible, else says what to do.
define need
command -v $(1) >/dev/null || { \
  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
    echo "$(1) is missing: installing the Debian package $(2)"; \
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2)) >/dev/null; \
  else \
    echo "$(1) is needed: apt-get install -y $(2)" >&2; exit 1; \
  fi; }
endef
