# Everything is run from here; `make` alone lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

DATA  := $(or $(SVC_DATA_DIR),.run)
BIN   := .run/bin
TOOLS := .run/tools
KAFKA_PORT ?= 9092

GOLANGCI := $(TOOLS)/golangci-lint-v2.15.0
BUF      := $(TOOLS)/buf-1.75.0/node_modules/.bin/buf
PROTOC_GEN_GO := $(TOOLS)/protoc-gen-go

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ui launcher ## build and start everything; Ctrl-C stops it; the data stays in .run
	@exec $(BIN)/local run

# Tests of a service wait more than they compute, so more packages run at once than there are processors.
.PHONY: test
test: ui build ## run all tests: unit, on real PostgreSQL and a broker, and the whole system through the gateway
	@status=0; \
	$(MAKE) --no-print-directory browser || status=1; \
	TRAEFIK_BIN=$(CURDIR)/$(BIN)/traefik $(BIN)/local env -- go test -p 4 -tags traefik $$(go list ./... | grep -v '^frontdesk/deploy/e2e') ./gateway/... || status=1; \
	go test -count=1 -timeout 20m ./deploy/e2e/... || status=1; \
	exit $$status

.PHONY: browser
browser: ui launcher deploy/browser/node_modules/.package-lock.json ## run the tests in a real browser, against a system of their own
	@deploy/browser/chromium
	node deploy/browser/run.mjs $(ONLY)

.PHONY: schemathesis
schemathesis: launcher ## call every operation as the OpenAPI document allows and forbids, on a system of its own
	@deploy/schemathesis/run

deploy/browser/node_modules/.package-lock.json: deploy/browser/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer and start again."; exit 1; }
	cd deploy/browser && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Without npm the pages work without widgets.
UI_SOURCES := $(shell find libs/web services/*/internal/*/web \( -name node_modules -o -name dist \) -prune -o -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.json' -o -name '*.mjs' -o -name '*.svg' \) -print 2>/dev/null)

.PHONY: ui
ui: .run/ui ## build the browser code, where npm is there

.run/ui: $(UI_SOURCES)
	@mkdir -p .run
	@if command -v npm >/dev/null; then \
		[ libs/web/node_modules/.package-lock.json -nt libs/web/package-lock.json ] || (cd libs/web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || exit 1; \
		(cd libs/web && node build.mjs) && touch $@; \
	else echo "npm is missing: the pages work, the widgets are left out. Install Node.js 20 or newer for them."; fi

.PHONY: verify
verify: format vet lint generated rules types ## check format, vet, lint, generated files, proto compatibility and import rules

.PHONY: format
format:
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard -- '*.go' | xargs -0 -r ls 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet: go
	go vet -tags traefik ./... ./gateway/...

.PHONY: lint
lint: $(GOLANGCI)
	$(GOLANGCI) run --allow-parallel-runners ./... ./gateway/...

.PHONY: generated
generated: $(BUF) $(PROTOC_GEN_GO)
	@rm -rf .run/generated && mkdir -p .run/generated
	cd proto && $(CURDIR)/$(BUF) lint
	cd proto && PATH="$(CURDIR)/$(TOOLS):$$PATH" $(CURDIR)/$(BUF) generate -o $(CURDIR)/.run/generated
	@for f in proto/*.pb.go .run/generated/*.pb.go; do \
		cmp -s proto/$$(basename $$f) .run/generated/$$(basename $$f) || { echo "$$f is not what proto/*.proto generates: run make proto"; exit 1; }; \
	done
	@base=$$(git rev-parse -q --verify origin/main || git rev-parse -q --verify main || true); \
	if [ -n "$$base" ] && git cat-file -e $$base:proto/buf.yaml 2>/dev/null; then \
		rm -rf .run/before && mkdir -p .run/before && git archive $$base proto | tar -x -C .run/before && \
		cd proto && $(CURDIR)/$(BUF) breaking --against $(CURDIR)/.run/before/proto; \
	else echo "no main branch to compare proto/ with"; fi

.PHONY: rules
rules: go
	go test -count=1 ./libs

.PHONY: types
types: ui
	@if command -v npm >/dev/null; then cd libs/web && npx --no-install tsc --noEmit; fi

.PHONY: proto
proto: $(BUF) $(PROTOC_GEN_GO) ## generate Go from proto/*.proto
	cd proto && PATH="$(CURDIR)/$(TOOLS):$$PATH" $(CURDIR)/$(BUF) generate

.PHONY: kafka
kafka: launcher ## fetch Apache Kafka and run one node on port 9092 (KAFKA_PORT), for KAFKA_BROKERS
	@exec $(BIN)/local apache-kafka -port $(KAFKA_PORT)

.PHONY: bench
bench: go ui deploy/browser/node_modules/.package-lock.json ## measure services and the whole system, against limits of the same machine (ONLY='forms web')
	@deploy/browser/chromium
	@for b in $(or $(ONLY),contacts booking webhooks forms system web); do \
		echo "== $$b"; \
		if [ $$b = web ]; then node deploy/bench/web/budget.mjs; else go run ./deploy/bench/$$b; fi || status=1; \
	done; exit $${status:-0}

.PHONY: clean
clean: ## delete the local run's data, and keep what was built
	@if [ -e $(DATA)/lock ] && ! flock -n $(DATA)/lock true; then echo "It is running: stop it first."; exit 1; fi
	rm -rf $(addprefix $(DATA)/,postgres postgres.new kafka apache-kafka mail gateway log secrets.json run.json cookies lock)

.PHONY: build
build: launcher ## build the services, the controller and Traefik
	@$(BIN)/local build

.PHONY: launcher
launcher: go
	@go build -o $(BIN)/local ./deploy/local

.PHONY: go
go:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer from https://go.dev/dl and start again."; exit 1; }

# A tool is built in its own module, with the versions that its authors tested.
$(GOLANGCI): | go
	@echo "building golangci-lint, once; this takes minutes"
	@mkdir -p $(TOOLS)
	@dir=$$(cd / && GOWORK=off go mod download -json github.com/golangci/golangci-lint/v2@v2.15.0 | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') && \
	cd "$$dir" && GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false' go build -trimpath -ldflags '-s -w -X main.version=2.15.0' -o $(CURDIR)/$@ ./cmd/golangci-lint

$(BUF):
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer and start again."; exit 1; }
	@mkdir -p $(TOOLS)/buf-1.75.0
	npm install --prefix $(TOOLS)/buf-1.75.0 --ignore-scripts --no-save --no-audit --no-fund @bufbuild/buf@1.75.0

$(PROTOC_GEN_GO): go.mod | go
	@mkdir -p $(TOOLS)
	go build -o $@ google.golang.org/protobuf/cmd/protoc-gen-go
