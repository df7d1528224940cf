#!/bin/sh
# Refuses changes of openapi.json that break clients of api/baseline.json, unless CHANGELOG.md declares them. Needs Python 3.11.
# usage: tools/compat/run.sh
set -eu

cd "$(dirname "$0")/../.."
python3 -B -m unittest discover --quiet --start-directory tools/compat
python3 -B tools/compat/breaking.py api/baseline.json openapi.json CHANGELOG.md
