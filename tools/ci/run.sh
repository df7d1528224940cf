#!/usr/bin/env bash
# Continuous integration: works on a machine that has only the toolchains (Rust, Node 20, Python 3) and a C compiler. What fails soonest
# comes first.
# usage: tools/ci/run.sh
# A piece of tools/ci/pieces.txt runs if a file that it depends on has changed since the commit in tools/ci/checked.txt. With CI_ALL=1 all
# pieces run, and that file names the commit that passed: commit it.
set -euo pipefail
cd "$(dirname "$0")/../.."
step() {
  local begun=$SECONDS
  printf '\n== %s\n' "$*"
  "$@"
  printf '== %d s, %d s in all\n' $((SECONDS - begun)) "$SECONDS"
}

# The servers that the suite makes its databases on and that replicas share: those that answer on this machine, else Debian's, installed
# and started here. Without them CI fails: what only SQLite and one replica have seen is not known to work.
postgres=127.0.0.1:5432
redis=127.0.0.1:6379
answers() { (exec 3<>"/dev/tcp/${1/://}") 2>/dev/null; }
start_postgres() {
  local version name rest installed=
  if ! command -v pg_ctlcluster >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql || return
    installed=yes
  fi
  read -r version name rest < <(pg_lsclusters --no-header) || return
  # A new server listens on loopback and holds nothing but the suite's databases. One that was here keeps its rules.
  if [ -n "$installed" ]; then
    sed -i -E 's/^(host +all +all +127\.0\.0\.1\/32 +).*/\1trust/' "/etc/postgresql/$version/$name/pg_hba.conf"
  fi
  pg_ctlcluster "$version" "$name" restart || return
  for _ in $(seq 50); do answers "$postgres" && return; sleep 0.2; done
}
start_redis() {
  if ! command -v redis-server >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends redis-server || return
  fi
  answers "$redis" && return
  redis-server --daemonize yes --bind 127.0.0.1 --port "${redis#*:}" --save '' --appendonly no || return
  for _ in $(seq 50); do answers "$redis" && return; sleep 0.2; done
}
need_servers() {
  answers "$postgres" || start_postgres || true
  answers "$postgres" || { echo "ci: no PostgreSQL answers on $postgres, and none could be installed and started" >&2; return 1; }
  answers "$redis" || start_redis || true
  answers "$redis" || { echo "ci: no Redis answers on $redis, and none could be installed and started" >&2; return 1; }
}

# Returns whether a piece has to run.
# usage: is_due NAME
is_due() {
  local paths
  paths=$(awk -v name="$1" '$1 == name { $1 = ""; print }' tools/ci/pieces.txt)
  [ -n "$paths" ] || { echo "ci: tools/ci/pieces.txt has no line for $1" >&2; exit 1; }
  # shellcheck disable=SC2086
  git ls-files --error-unmatch -- $paths >/dev/null || { echo "ci: tools/ci/pieces.txt: $1" >&2; exit 1; }
  [ -z "${CI_ALL:-}" ] || return 0
  # A commit that is not here is another one.
  # shellcheck disable=SC2086
  ! git diff --quiet "$(cat tools/ci/checked.txt 2>/dev/null)" -- tools/ci/run.sh tools/ci/pieces.txt $paths 2>/dev/null
}
# Runs a command, if the piece has to run.
# usage: if_due NAME COMMAND...
if_due() {
  local name=$1
  shift
  if is_due "$name"; then step "$@"; else printf '\n== %s: nothing that it depends on has changed since %.8s\n' "$name" "$(cat tools/ci/checked.txt)"; fi
}

# Everything is built once, and nobody debugs it.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

step make lint
# A second opinion on the document, where the checkout stands beside one.
contract=../shared/checks/contract.py
if [ -f "$contract" ]; then step python3 "$contract" openapi.json; fi
step make check
if_due rules make rules
step make audit
step need_servers
export SIGHTLINE_TEST_POSTGRES_URL=${SIGHTLINE_TEST_POSTGRES_URL:-postgres://postgres@$postgres/postgres}
export SIGHTLINE_TEST_REDIS_URL=${SIGHTLINE_TEST_REDIS_URL:-redis://$redis}
step make test-all
if_due restore-drill make restore-drill
step make openapi
if [ -n "$(git status --porcelain)" ]; then
  git status --short
  echo "the tree is dirty after 'make openapi': commit the regenerated files" >&2
  exit 1
fi
if_due soak env SOAK_SECONDS=90 make soak
# Two at once, because most of them keep one core busy. What takes longest comes first. Each prints what it has to say at its end.
targets=(test-browser)
if is_due sdk-check; then targets+=(sdk-check); fi
targets+=(fuzz test-mcp)
if is_due providers-check; then targets+=(providers-check); fi
targets+=(recipes)
if is_due google-check; then targets+=(google-check); fi
# Two of the official clients of the tool protocol, a new one and an old one, unless everything runs.
[ -n "${CI_ALL:-}" ] || export MCP_SDKS=few
step make --jobs=2 --output-sync=target "${targets[@]}"
# The profile that is built already: the others would compile everything once more. Last, because it builds the program with the day of the
# commit.
if_due test-dist env DIST_PROFILE=dev make test-dist
if [ -n "${CI_ALL:-}" ]; then git rev-parse HEAD >tools/ci/checked.txt; fi
echo "ci: all steps passed"
