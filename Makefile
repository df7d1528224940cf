# `make ci` runs most of these targets. `make run` and `make test` need a Rust toolchain and a C compiler, nothing else.
.PHONY: help ci run test test-all test-pgbouncer restore-drill test-crash abuse audit check lint rules sdk-check providers-check recipes fuzz test-browser picture google-check test-mcp openapi settings baseline examples bench bench-lists bench-people soak dist test-dist

help: ## Print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s  %s\n", $$1, $$2 }' Makefile

ci: ## All of continuous integration, with pieces of tools/ci/pieces.txt where their files have changed. CI_ALL=1 runs all pieces
	tools/ci/run.sh

run: ## Serve on http://127.0.0.1:8080 with demo people and a simulated search engine
	cargo run -- serve

# Many tests wait for a clock or for another process, so three for each core keep the cores busy. No more than 16: a PostgreSQL server takes
# a hundred connections.
test test-all: export RUST_TEST_THREADS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 6 ? 3 * n : 16)))

test: ## The default suite: no network, no services
	cargo test --workspace

# What runs on SQLite alone, as arguments of the suite.
SQLITE_ALONE := $(shell awk '/^[a-z]/ { printf "--skip %s:: ", $$1 }' tests/it/sqlite_alone.txt)

test-all: ## The suite on SQLite, then, without tests/it/sqlite_alone.txt, on the PostgreSQL server that SIGHTLINE_TEST_POSTGRES_URL names
	@test -n "$$SIGHTLINE_TEST_POSTGRES_URL" || { echo "test-all: set SIGHTLINE_TEST_POSTGRES_URL, such as postgres://postgres@127.0.0.1/postgres" >&2; exit 1; }
	SIGHTLINE_TEST_POSTGRES_URL= $(MAKE) test
	cargo test -p sightline -p sightline-identity -p sightline-issuer -p sightline-store --lib --test it -- $(SQLITE_ALONE)

test-pgbouncer: ## The integration suite behind PgBouncer in transaction mode, before the server that SIGHTLINE_TEST_POSTGRES_URL names (needs Python 3)
	tools/pgbouncer/run.sh

dist: ## Build what a release holds, in target/packages, by the profile DIST_PROFILE (needs Debian and Python 3.11)
	tools/dist/run.sh

test-dist: dist ## Install what `make dist` built into empty roots, and run the demo from each (needs root)
	tools/dist/test.sh

restore-drill: ## Back a service up and restore it by the commands of docs/OPERATING.md, and compare the answers (needs Python 3.11)
	tools/restore/run.sh

test-crash: ## Kill the service 200 times under a load of keyed writes; nothing acknowledged is lost or doubled
	cargo test --test it -- --ignored --nocapture crash

soak: ## Three replicas under load and faults for SOAK_SECONDS, 600 unless set (needs Python 3.11, PostgreSQL's and Redis' programs)
	tools/soak/run.sh

abuse: ## Attack a running service for a minute, and print what honest people notice
	cargo test --release --test it -- --ignored --nocapture abuse

audit: ## Licences, sources, versions and advisories of the dependencies, and the release of Swagger UI, as far as they can be checked (uses cargo-deny)
	tools/audit/run.sh

check: ## Formatting, features that builds share, lints and docs
	cargo fmt --all --check
	tools/features/run.sh
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items

lint: ## The three linters of the OpenAPI document (needs Node 20 and Python 3)
	tools/lint/run.sh openapi.json

rules: ## The alerts of deploy/prometheus, by Prometheus' own tool (unpacks Debian's, where it is missing)
	tools/monitoring/run.sh

sdk-check: ## Clients in seven languages made from the document call a server, and requests of Postman and Bruno (needs Node 20, Python 3.11 and Debian)
	tools/sdk/run.sh openapi.json

providers-check: ## Clients of the SEO vendors call the simulated providers (needs Node 20 and Python 3.11)
	tools/providers/run.sh

recipes: ## The code blocks of README and the guides run against the demo, and its pages behind their proxies (needs Node 20 and Python 3.11)
	tools/recipes/run.sh

fuzz: ## Schemathesis over the operations of a running server (needs Python 3.11)
	tools/fuzz/run.sh

picture: ## Draw docs/dashboard.png, the picture in README, from the demo (needs Node 20; installs Debian's Chromium)
	tools/browser/run.sh picture

google-check: ## Google's own client libraries work against the simulator (needs Python 3.11)
	tools/google/run.sh

test-mcp: ## The tool endpoint with the official clients and the conformance runner of its protocol (needs Node 20 and Python 3.11)
	tools/mcp/run.sh

test-browser: ## The pages in headless Chromium, also with a certified OpenID provider (needs Node 20; installs Debian's Chromium and Poppler)
	tools/browser/run.sh

openapi: ## Write openapi.json and api/operations.txt from the traits; refuse what breaks clients of api/baseline.json (needs Python 3.11)
	cargo run -q -- openapi --operations > api/operations.txt.new
	mv api/operations.txt.new api/operations.txt
	cargo run -q -- openapi > openapi.json.new
	mv openapi.json.new openapi.json
	tools/compat/run.sh

settings: ## Write docs/SETTINGS.md from the settings' fields
	cargo run -q -- settings > docs/SETTINGS.md.new
	mv docs/SETTINGS.md.new docs/SETTINGS.md

baseline: openapi ## Make openapi.json the document that later ones are held against
	cp openapi.json api/baseline.json

examples: ## Write the document's examples of analytics answers, and a model's view of the largest tool answer, anew
	SIGHTLINE_WRITE_EXAMPLES=1 cargo test --test it -- analytics_examples no_answer_is_large
	$(MAKE) openapi

bench: ## Throughput, latency, memory, and the cost of analyses and of a full cache, each beside its baseline
	cargo bench --bench service
	cargo bench --bench analyses
	cargo bench --bench cache

bench-lists: ## The list of properties of 205 and of 2,000 sites, at a search engine that takes 200 ms (needs Python 3.11)
	cargo build --release
	python3 -B tools/lists/measure.py target/release/sightline 205 2000

# A run is PROFILE:PEOPLE; tools/people/main.py says what each profile is.
PEOPLE_RUNS ?= agency:200 agency:450 hosted:1000 cold:50

bench-people: ## How many people a service carries, PEOPLE_RUNS, in twelve minutes. PEOPLE_COLD_SECONDS=600 for a long cold run (needs Linux and Python 3.11)
	cargo build --release
	python3 -B tools/people/main.py target/release/sightline $(PEOPLE_RUNS)
