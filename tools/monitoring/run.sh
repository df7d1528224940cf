#!/usr/bin/env bash
# Checks the alerts in deploy/prometheus by Prometheus' own tool: the one of this machine, else that of Debian's package, which is unpacked
# and not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=${CARGO_TARGET_DIR:-target}/monitoring

if ! promtool=$(command -v promtool); then
    promtool=$work/usr/bin/promtool
    if [ ! -x "$promtool" ]; then
        mkdir -p "$work"
        apt-get update
        (cd "$work" && apt-get download prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb)
    fi
fi
"$promtool" check rules deploy/prometheus/rules.yml
