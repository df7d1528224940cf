"""Holds a bill of materials against the schema of CycloneDX 1.5, and against Cargo.lock.

usage: materials.py FILE
"""

import json
import sys
import tomllib
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = Path(sys.argv[1]).read_text()
if error := JsonStrictValidator(SchemaVersion.V1_5).validate_str(text):
    sys.exit(f"{sys.argv[1]}: {error}")
listed = {(one["name"], one["version"]) for one in json.loads(text)["components"]}
locked = {(one["name"], one["version"]) for one in tomllib.loads(Path("Cargo.lock").read_text())["package"]}
# A program of this kind rests on some hundred crates, such as these, and on nothing that is not locked.
if listed - locked or not {"tokio", "poem", "aws-lc-sys", "libsqlite3-sys"} <= {name for name, _ in listed}:
    sys.exit(f"{sys.argv[1]}: {listed - locked} are not locked, or a part of the program is missing")
print(f"materials: {len(listed)} crates")
