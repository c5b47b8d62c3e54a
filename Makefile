# Everything is run from here; `make` alone lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

DATA  := $(or $(SVC_DATA_DIR),.run)
BIN   := .run/bin
KAFKA_PORT ?= 9092

# Tools that are built or fetched once for all checkouts; each name has its version.
export FRONTDESK_TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/frontdesk
TOOLS := $(FRONTDESK_TOOLS)

# Without the folder in what is compiled, Go's cache serves every checkout.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS 2>/dev/null)) -trimpath)

# As in a release: what is tested is what is shipped, and links faster.
export CGO_ENABLED := 0

GOLANGCI := $(TOOLS)/golangci-lint-v2.15.0
BUF      := $(TOOLS)/buf-1.75.0/node_modules/.bin/buf
PROTOC_GEN_GO := $(TOOLS)/protobuf-$(shell sed -n "s/^.*google.golang.org\/protobuf v//p" go.mod)/protoc-gen-go
CYCLONEDX := $(TOOLS)/cyclonedx-gomod-v1.10.0
OAPI_CODEGEN := $(TOOLS)/oapi-codegen-v2.8.2
GOVULNCHECK := $(TOOLS)/govulncheck-v1.3.0
GOTESTSUM := $(TOOLS)/gotestsum-v1.13.0
PROMETHEUS := $(TOOLS)/prometheus
# Only where they are not on the PATH.
PROMTOOL := $(if $(and $(shell command -v prometheus),$(shell command -v promtool)),,$(PROMETHEUS)/usr/bin/promtool)
SQUAWK   := $(TOOLS)/squawk-2.66.0
KUBERNETES := $(TOOLS)/kubernetes

# Modules of tests and measurements, outside go.work.
APART := deploy/kubernetes

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## build and start everything; Ctrl-C stops it; the data stays in .run (REPLICAS=booking=3,contacts=2)
	@$(MAKE) --no-print-directory -j2 ui launcher
	@SVC_REPLICAS="$(or $(REPLICAS),$(SVC_REPLICAS))" exec $(BIN)/local run

# Prints each package, what fails, and a line with the sum. In a suite of the gate it keeps the tests' events for it. A package may take half an hour, for
# a machine that does much else is no failure.
GOTEST = $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg --hide-summary skipped $(if $(TEST_RESULTS),--jsonfile $(TEST_RESULTS)/$@.tests) -- -vet=off -timeout 30m -ldflags='-s -w' $(if $(RUN),-count=1 -run '$(RUN)')

# Packages that start whole systems or build releases.
SYSTEMS := ^frontdesk/deploy/(e2e|runbook|chaos|compose|release|observe/live)$$$$

# The services first: they take longest, and what the others wait for hides behind them. The rules that all code has to hold are a target of their own.
UNITS = $$(go list ./services/... ./libs/... ./proto/... | grep -Ev '^frontdesk/libs$$')
# Go does not see what the programs are made of that these start, so it keeps no result of them.
PROGRAMS = $$(go list ./deploy/... | grep -Ev '$(SYSTEMS)|^frontdesk/deploy$$') ./gateway/...

.PHONY: test
test: ui build $(GOTESTSUM) ## run all tests: unit, on real PostgreSQL and a broker, and the whole system through the gateway
	@rm -rf $(addprefix .run/suites/,$(SUITES))
	@$(MAKE) --no-print-directory -k -j2 $(addprefix suite-,$(SUITES)); go run ./deploy/gate $(SUITES)

# The longest first, two side by side: whichever ends makes place for the next.
SUITES := browser units e2e runbook programs chart rules

# One suite of the gate: its log, its seconds and its tests stay in .run/suites.
suite-%:
	@deploy/gate/suite $* $(MAKE) --no-print-directory $*

# What runs for a test collects its garbage less often, which takes a tenth less processor time.
units programs e2e e2e-apache runbook browser interfaces dead: export GOGC := 400

# Tests of a service wait more than they compute, so more of a package run at once than there are processors: with two, as Go would have it here, those
# of booking alone take twice as long. In the gate other suites run beside them.
.PHONY: units
units: launcher $(GOTESTSUM) ## run the tests of packages (PACKAGES=./services/forms/... RUN=TestName)
	@$(BIN)/local env -- $(GOTEST) -p 2 $(if $(TEST_RESULTS),,-parallel 4) $(or $(PACKAGES),$(UNITS))

.PHONY: programs
programs: build $(GOTESTSUM) ## run the tests of what starts programs: the gateway with Traefik, the launcher, the tools of deploy
	@TRAEFIK_BIN=$(CURDIR)/$(BIN)/traefik $(GOTEST) -count=1 -p 2 -tags traefik $(or $(PACKAGES),$(PROGRAMS))

# Packages whose tests start no other program, among them the rules that all code has to hold.
PURE = $$(go list -test -f '{{if and (not .ForTest) (eq .Name "main")}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./... | grep -Ev ' frontdesk/libs/(db/dbtest|db/pgserver|caldavtest)( |$$)' | sed -n 's/\.test .*//p' | grep -Ev '$(SYSTEMS)')

.PHONY: quick
quick: $(GOTESTSUM) ## what needs no process, in less than a minute: format, types, lint of what changed, rules, tests of packages without a database
	@$(MAKE) --no-print-directory -k -j3 -Otarget format types lint-changed pure

.PHONY: pure
pure: $(GOTESTSUM)
	@$(GOTEST) $(PURE)

.PHONY: e2e
e2e: ui build $(GOTESTSUM) ## run the whole system through the gateway
	@$(GOTEST) -count=1 ./deploy/e2e/...

.PHONY: e2e-apache
e2e-apache: ui build $(GOTESTSUM) ## run what talks to brokers on Apache Kafka with TLS, users and rights
	@GOTESTSUM=$(GOTESTSUM) deploy/e2e/apache

.PHONY: runbook
runbook: ui build $(GOTESTSUM) ## do what the runbook says to systems of its own
	@$(GOTEST) -count=1 ./deploy/runbook

# Go's cache of tests does not see what the programs read that they start.
.PHONY: chart
chart: build $(GOTESTSUM) ## render the chart for Kubernetes over sets of values, and check each object
	@cd deploy/kubernetes && GOWORK=off $(GOTEST) -count=1 ./...

.PHONY: chart-server
chart-server: $(KUBERNETES)/kube-apiserver ## install and upgrade the chart on a kube-apiserver, which is built once, in five minutes
	cd deploy/kubernetes && GOWORK=off KUBERNETES=$(KUBERNETES) go test -count=1 -timeout 20m -v -run TestAServerTakesTheChart .

.PHONY: chart-podman
chart-podman: go ## run the pods of the chart with podman, on an image built from the Dockerfile
	podman build --quiet --tag frontdesk --file deploy/Dockerfile .
	cd deploy/kubernetes && GOWORK=off go test -count=1 -timeout 20m -v -tags podman -run TestPodmanRunsTheWorkloads .

.PHONY: narrow
narrow: ui launcher ## run the services' tests with one database connection each: what waits with it in hand fails
	@TEST_NARROW=1 $(BIN)/local env -- go test -count=1 -p 2 ./services/...

.PHONY: clocks
clocks: ui launcher ## run the services' tests shortly before midnight and around the changes of summer time
	@failed=0; for at in "$$(date -d tomorrow +%F) 23:59" "2027-03-27 22:30" "2027-03-28 00:30" "2027-10-30 22:30" "2027-10-31 01:30"; do \
		echo "== $$at"; TEST_CLOCK="$$at" $(BIN)/local env -- go test -vet=off -count=1 ./services/... || failed=1; \
	done; exit $$failed

.PHONY: browser
browser: ui launcher deploy/browser/node_modules/.made-from ## run the tests in a real browser, against a system of their own
	@deploy/browser/chromium
	node deploy/browser/run.mjs $(ONLY)

.PHONY: schemathesis
schemathesis: launcher ## call every operation as the OpenAPI document allows and forbids, on a system of its own
	@deploy/schemathesis/run

.PHONY: mcp
mcp: ui launcher ## run the official clients of assistants and attacks against a system of their own
	@deploy/mcp/run $(ONLY)

.PHONY: clients
clients: launcher $(OAPI_CODEGEN) ## lint the OpenAPI document, build the SDKs from it, and run the story by each
	@OAPI_CODEGEN=$(OAPI_CODEGEN) deploy/clients/run

# One after the other on one system, because a start takes six seconds of a processor. The last calls everything with anything. Without MAKEFLAGS
# this make has one lane, whoever started it.
.PHONY: interfaces
interfaces: ui launcher $(OAPI_CODEGEN) ## run clients, mcp and schemathesis on a system that they share
	@$(BIN)/local with -- env MAKEFLAGS= make --no-print-directory -k clients mcp schemathesis ONLY=$(ONLY)

.PHONY: wordpress
wordpress: ui launcher ## run the plugin in a WordPress of its own, in a real browser, against a system of its own
	@deploy/wordpress/test/run

.PHONY: n8n
n8n: ui launcher ## lint the nodes for n8n, and run them in an n8n of its own against a system of its own
	@deploy/n8n/test/run

.PHONY: oidc
oidc: ui launcher ## sign people in at a Keycloak, in a real browser, on a system of its own
	@deploy/oidc/run

# The nodes for n8n as they are packed, where npm is there.
.PHONY: n8n-dist
n8n-dist:
	@if command -v npm >/dev/null; then deploy/tools npm deploy/n8n && cd deploy/n8n && npm run -s build; fi

.PHONY: chaos
chaos: ui build ## do faults to whole running systems under load (ONLY=TestName)
	go test -count=1 -timeout 6h ./deploy/chaos $(if $(ONLY),-run '^($(ONLY))$$',-skip '^TestNothingClimbsInASoak$$') -v -args -full -table README.md

.PHONY: soak
soak: ui build ## let a system work under load, and compare what its processes need (SOAK=30m)
	go test -count=1 -timeout 6h ./deploy/chaos -run '^TestNothingClimbsInASoak$$' -v -args -full -table README.md -soak $(or $(SOAK),30m)

.PHONY: fuzz
fuzz: launcher ## run every fuzz target, one after the other (FUZZ=10m each)
	@$(BIN)/local env -- deploy/chaos/fuzz $(or $(FUZZ),10m)

.PHONY: histories
histories: go ## let the relay live through a million histories of crashes and losses (HISTORIES=1000000), and take its rules away one by one
	go test -count=1 -timeout 1h -tags mutations -v -run TestTheHistoriesMiss ./libs/relay
	SIMULATE=$(or $(HISTORIES),1000000) go test -count=1 -timeout 1h -v -run TestEachCommittedEvent ./libs/relay

.PHONY: calendars
calendars: go ## read thousands of calendars, and find the times in them that other libraries find (CALENDARS=2000 SEED=1)
	@deploy/calendars/run $(or $(CALENDARS),2000) $(or $(SEED),1)

.PHONY: release-test
release-test: ui n8n-dist launcher $(OAPI_CODEGEN) ## build a release twice, in different folders, compare the bytes, and install its SDKs into empty projects
	OAPI_CODEGEN=$(OAPI_CODEGEN) go test -count=1 -timeout 2h -v ./deploy/release

# What the product promises within two seconds, which a busy machine does not keep.
.PHONY: promises
promises: ui build ## measure that a change shows, and that a revoked key is refused, within two seconds
	go test -count=1 -v ./deploy/e2e -run 'OpenScreens|Revoked' -args -alone

.PHONY: growth
growth: go ## measure calls, imports and a day of changes while contacts grow to ten million
	go run ./deploy/bench/growth -contacts 10000,100000,1000000,10000000

# Hours of proofs that .ci/run leaves out. deploy/LONG.md says what each takes, and when it last passed.
LONG := promises languages narrow clocks fuzz release-test chart-server chaos soak observe growth compose-test histories wordpress n8n oidc
.PHONY: long
long: ui build ## run the long proofs, for hours, and note in deploy/LONG.md which passed (ONLY='narrow clocks')
	@for s in $(or $(ONLY),$(LONG)); do rm -rf .run/suites/$$s; $(MAKE) --no-print-directory suite-$$s ONLY=; done; \
	go run ./deploy/gate -long deploy/LONG.md $(or $(ONLY),$(LONG))

.PHONY: languages
languages: ## look at every screen in every language and width: nothing is in English, no word is cut, nothing moves while it loads
	@EVERY_LANGUAGE=1 $(MAKE) --no-print-directory browser ONLY='wide.test.mjs every.test.mjs steady.test.mjs'

.PHONY: compose-test
compose-test: go ## run docker-compose.yml in containers, kill and scale them; with Docker or podman
	@for e in docker podman; do if $$e info >/dev/null 2>&1 && $$e compose version >/dev/null 2>&1; then engine=$$e; break; fi; done; \
	[ -n "$$engine" ] || { echo "No container engine answers: start Docker 25 or newer, or podman, with Compose, and start again."; exit 1; }; \
	ENGINE=$$engine go test -count=1 -timeout 1h -v ./deploy/compose

.PHONY: observe
observe: launcher promtool ## run Prometheus with our rules beside a system under load: every query, every alert, and the runbook's commands
	@PATH="$(PROMETHEUS)/usr/bin:$$PATH" go test -count=1 -timeout 30m -v ./deploy/observe/live

.PHONY: promtool
promtool: $(PROMTOOL) ## check the scrape configurations, and the rules by their unit tests, once on a machine for each state of them
	@export PATH="$(PROMETHEUS)/usr/bin:$$PATH"; cd deploy/observe/prometheus && \
	../../tools once "promtool check config local.yml compose.yml && promtool test rules rules_test.yml rules_slow_test.yml # $$(promtool --version 2>&1 | head -1)" *.yml

deploy/browser/node_modules/.made-from: deploy/browser/package.json deploy/browser/package-lock.json
	@deploy/tools npm deploy/browser

# Without npm the pages work without widgets, and there is no portal.
UI_SOURCES := libs/look/look.json $(shell find libs/web services/*/internal/*/web \( -name node_modules -o -name dist \) -prune -o -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.json' -o -name '*.mjs' -o -name '*.svg' \) -print 2>/dev/null)

PORTAL := services/settings/internal/portal/web

.PHONY: ui
ui: .run/ui ## build the browser code, where npm is there

.run/ui: $(UI_SOURCES)
	@mkdir -p .run
	@if command -v npm >/dev/null; then \
		deploy/tools npm libs/web && deploy/tools npm $(PORTAL) && \
		(cd libs/web && node build.mjs) && (cd $(PORTAL) && node_modules/.bin/vite build --logLevel warn) && touch $@; \
	else echo "npm is missing: the pages work, the widgets and the portal are left out. Install Node.js 20 or newer for them."; fi

.PHONY: demo
demo: go ## fill the running system with a business to look at; REMOVE=1 takes it back
	@go run ./deploy/demo -data $(DATA) $(if $(REMOVE),-remove)

.PHONY: backup
backup: launcher ## dump all services of the running system, or some: SERVICES=contacts,booking TO=folder
	@$(BIN)/local backup $(if $(SERVICES),-services $(SERVICES)) $(TO)

.PHONY: restore
restore: build ## bring all services back to a backup, or some: FROM=folder SERVICES=contacts
	@$(BIN)/local restore $(if $(SERVICES),-services $(SERVICES)) $(FROM)

.PHONY: verify
verify: ## check format, lint, generated files, proto compatibility, import rules, documents, migrations, known vulnerabilities
	@$(MAKE) --no-print-directory -k -j2 -Otarget format lint dead generated rules types php sbom vulns

.PHONY: format
format:
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard -- '*.go' | xargs -0 -r ls 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

.PHONY: php
php:
	@deploy/wordpress/test/php cli
	@for f in $$(git ls-files --cached --others --exclude-standard -- '*.php'); do php -d display_errors=stderr -l $$f >/dev/null || exit 1; done

.PHONY: lint
lint: $(GOLANGCI)
	$(GOLANGCI) run --allow-parallel-runners ./... ./gateway/...
	@for m in $(APART); do (cd $$m && GOWORK=off $(GOLANGCI) run --allow-parallel-runners ./...) || exit 1; done

# Once on a machine for each state of the sources: to build the graph of all calls takes a quarter of a minute of a processor.
.PHONY: dead
dead: go
	@deploy/tools once "go run ./deploy/dead -tags traefik,podman,squawk,mutations ./... ./gateway/... # $$(go version)" \
		$$(git ls-files -co --exclude-standard '*.go' '*go.mod' '*go.sum' go.work | xargs ls 2>/dev/null)

# Packages with files that main on the server does not have as they are here.
.PHONY: lint-changed
lint-changed: $(GOLANGCI)
	@base=$$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD); \
	packages=$$({ git diff --name-only --diff-filter=d $$base -- '*.go'; git ls-files --others --exclude-standard -- '*.go'; } | grep -v $(addprefix -e ^,$(APART)) | xargs -r dirname | sort -u | sed 's|^|./|'); \
	[ -z "$$packages" ] || $(GOLANGCI) run --allow-parallel-runners $$packages

.PHONY: generated
generated: $(BUF) $(PROTOC_GEN_GO)
	@rm -rf .run/generated && mkdir -p .run/generated
	cd proto && $(BUF) lint
	cd proto && PATH="$(dir $(PROTOC_GEN_GO)):$$PATH" $(BUF) generate -o $(CURDIR)/.run/generated
	@for f in proto/*.pb.go .run/generated/*.pb.go; do \
		cmp -s proto/$$(basename $$f) .run/generated/$$(basename $$f) || { echo "$$f is not what proto/*.proto generates: run make proto"; exit 1; }; \
	done
	cd proto && $(BUF) breaking --against released.binpb

# Squawk without the script that npm starts it by, because that takes longer than what it starts.
.PHONY: rules
rules: $(SQUAWK) $(GOTESTSUM) ## run the tests of the rules that code, documents and migrations have to hold
	@SQUAWK=$$(echo $(SQUAWK)/node_modules/@squawk-cli/*/bin/squawk) $(GOTEST) -count=1 -tags squawk $(or $(PACKAGES),./libs ./deploy)

# Of the browser code, once on a machine for each state of it: to find all types takes half a minute of a processor.
.PHONY: types
types: .run/types

.run/types: $(UI_SOURCES)
	@mkdir -p .run
	@if command -v npm >/dev/null; then \
		deploy/tools npm libs/web && deploy/tools npm $(PORTAL) && \
		deploy/tools once "(cd libs/web && node check.mjs && npm test -s && npm run -s unused) && cd $(PORTAL) && npm test -s && node text.mjs && node css.mjs # $$(node --version)" $(UI_SOURCES) && touch $@; fi

.PHONY: schema
schema: ## write the portal's API types and limits from the system that runs (GATEWAY=http://localhost:8080)
	cd $(PORTAL) && node schema.mjs $(or $(GATEWAY),http://localhost:8080)

# What the programs and the browser code are made of. Traefik is a program of its own, so its list is read from it, once it is built.
.PHONY: sbom
sbom: $(CYCLONEDX) ## write what all is made of as CycloneDX to .run/sbom
	@mkdir -p .run/sbom
	@for m in frontdesk:. gateway:gateway; do \
		GOWORK=off $(CYCLONEDX) mod -json -std -noserial -notimestamp -output .run/sbom/$${m%%:*}.cdx.json $${m##*:} 2>.run/sbom/said || { cat .run/sbom/said; exit 1; }; \
	done
	@if [ -e $(BIN)/traefik ]; then $(CYCLONEDX) bin -json -std -noserial -notimestamp -output .run/sbom/traefik.cdx.json $(BIN)/traefik 2>.run/sbom/said || { cat .run/sbom/said; exit 1; }; fi
	@if npm sbom --help >/dev/null 2>&1; then cd libs/web && npm sbom --package-lock-only --sbom-format cyclonedx --loglevel=error >$(CURDIR)/.run/sbom/web.cdx.json; \
	else echo "npm is missing or older than 10: the browser code is not in the SBOM."; fi
	@rm -f .run/sbom/said; echo "wrote $$(cd .run/sbom && echo *.cdx.json) to .run/sbom"

.PHONY: vulns
vulns: $(GOVULNCHECK) ## look for known vulnerabilities in what is called (GOVULNDB=https://… or file://…)
	@db=$${GOVULNDB:-https://vuln.go.dev}; if [[ $$db == http* ]] && command -v curl >/dev/null && ! curl -sfL -m 20 -o /dev/null "$$db/index/modules.json.gz"; then \
		echo "NOT CHECKED for known vulnerabilities: $$db does not answer. GOVULNDB names another database."; exit 0; \
	fi; \
	mkdir -p .run; for m in . gateway; do \
		if GOWORK=off $(GOVULNCHECK) -C $$m ./... >.run/vulns 2>&1; then continue; fi; \
		if grep -q 'fetching vulnerabilities' .run/vulns; then \
			echo "NOT CHECKED for known vulnerabilities: $$(grep -m1 -o 'Get .*' .run/vulns). GOVULNDB names another database."; exit 0; \
		fi; \
		cat .run/vulns; exit 1; \
	done

.PHONY: proto
proto: $(BUF) $(PROTOC_GEN_GO) ## generate Go from proto/*.proto
	cd proto && PATH="$(dir $(PROTOC_GEN_GO)):$$PATH" $(BUF) generate

.PHONY: kafka
kafka: launcher ## fetch Apache Kafka and run one node on port 9092 (KAFKA_PORT), for KAFKA_BROKERS
	@exec $(BIN)/local apache-kafka -port $(KAFKA_PORT)

.PHONY: bench
bench: go ui deploy/browser/node_modules/.made-from ## measure services and the whole system, against limits of the same machine (ONLY='forms web')
	@deploy/browser/chromium
	@for b in $(or $(ONLY),contacts booking webhooks forms system replicas web); do \
		echo "== $$b"; \
		case $$b in \
			web) node deploy/bench/web/budget.mjs;; \
			million) node deploy/bench/web/million.mjs;; \
			*) go run ./deploy/bench/$$b;; \
		esac || status=1; \
	done; exit $${status:-0}

.PHONY: clean
clean: ## delete the local run's data, and keep what was built
	@if [ -e $(DATA)/lock ] && ! flock -n $(DATA)/lock true; then echo "It is running: stop it first."; exit 1; fi
	rm -rf $(addprefix $(DATA)/,postgres postgres.new kafka apache-kafka mail gateway log hold secrets.json run.json targets.json cookies lock)

.PHONY: build
build: launcher ## build the services, the controller and Traefik
	@$(BIN)/local build

# The same bytes wherever it is built from the same files; a test compares (deploy/release).
.PHONY: release
release: ui n8n-dist launcher $(OAPI_CODEGEN) ## build all programs for amd64 and arm64 and the SDKs, with their sums, into .run/release
	@deploy/release/build .run/release
	@OAPI_CODEGEN=$(OAPI_CODEGEN) deploy/clients/run pack .run/release/sdk

.PHONY: launcher
launcher: go
	@go build -o $(BIN)/local ./deploy/local

.PHONY: go
go:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer from https://go.dev/dl and start again."; exit 1; }

# A tool is built in its own module, with the versions that its authors tested: module, version, package, more flags.
define tool
echo "building $(@F), once"; mkdir -p $(TOOLS) && \
dir=$$(cd / && GOWORK=off go mod download -json $(1)@$(2) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') && \
cd "$$dir" && GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false' go build -trimpath $(4) -o $@.new $(3) && mv $@.new $@
endef

$(GOLANGCI): | go
	@$(call tool,github.com/golangci/golangci-lint/v2,v2.15.0,./cmd/golangci-lint,-ldflags '-s -w -X main.version=2.15.0')

$(CYCLONEDX): | go
	@$(call tool,github.com/CycloneDX/cyclonedx-gomod,v1.10.0,./cmd/cyclonedx-gomod)

$(GOVULNCHECK): | go
	@$(call tool,golang.org/x/vuln,v1.3.0,./cmd/govulncheck)

$(GOTESTSUM): | go
	@$(call tool,gotest.tools/gotestsum,v1.13.0,.)

$(OAPI_CODEGEN): | go
	@$(call tool,github.com/oapi-codegen/oapi-codegen/v2,v2.8.2,./cmd/oapi-codegen)

# A tool of npm is fetched beside its folder, which is whole or not there: folder, package.
fetched = rm -rf $(TOOLS)/$(1) $(TOOLS)/$(1).new && mkdir -p $(TOOLS)/$(1).new && \
	npm install --prefix $(TOOLS)/$(1).new --ignore-scripts --no-save --no-audit --no-fund --loglevel=error $(2) && mv $(TOOLS)/$(1).new $(TOOLS)/$(1)

$(BUF):
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer and start again."; exit 1; }
	@$(call fetched,buf-1.75.0,@bufbuild/buf@1.75.0)

$(SQUAWK):
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer and start again."; exit 1; }
	@$(call fetched,squawk-2.66.0,squawk-cli@2.66.0)

$(KUBERNETES)/kube-apiserver: deploy/kubernetes/go.mod $(addprefix deploy/kubernetes/apiserver/,build go.mod pom.xml) | go
	@deploy/kubernetes/apiserver/build $(@D)

$(PROTOC_GEN_GO): | go
	@mkdir -p $(@D)
	go build -o $@ google.golang.org/protobuf/cmd/protoc-gen-go

$(PROMETHEUS)/usr/bin/promtool:
	@command -v apt-get dpkg >/dev/null || { echo "Prometheus is missing: install it, with promtool, and start again."; exit 1; }
	@rm -rf $(PROMETHEUS).new; mkdir -p $(PROMETHEUS).new && cd $(PROMETHEUS).new && { apt-get download -q prometheus || { apt-get update -qq && apt-get download -q prometheus; }; } && \
	dpkg --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin && rm prometheus_*.deb && rm -rf $(PROMETHEUS) && mv $(PROMETHEUS).new $(PROMETHEUS) && touch $@
