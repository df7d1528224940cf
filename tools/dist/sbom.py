"""Prints the bill of materials of the program, as CycloneDX 1.5: every crate that it is compiled from, macros included.

usage: sbom.py < METADATA

METADATA is what `cargo metadata --locked --filter-platform TARGET` prints. SOURCE_DATE_EPOCH is the time that the document names. The same
input gives the same bytes.
"""

import json
import os
import re
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

PROGRAM = "sightline"


def reached(metadata: dict) -> dict[str, list[str]]:
    """The ids of the program and of what it is compiled from, each with the ids of what it depends on."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: dict[str, list[str]] = {}
    waiting = [next(package["id"] for package in metadata["packages"] if package["name"] == PROGRAM)]
    while waiting:
        package = waiting.pop()
        if package not in found:
            is_normal = lambda dependency: any(kind["kind"] is None for kind in dependency["dep_kinds"])
            found[package] = sorted({dependency["pkg"] for dependency in nodes[package]["deps"] if is_normal(dependency)})
            waiting += found[package]
    return found


def sums(workspace: Path) -> dict[tuple[str, str], str]:
    """The SHA-256 sums of the crates of a registry, by name and version."""
    packages = tomllib.loads((workspace / "Cargo.lock").read_text())["package"]
    return {(one["name"], one["version"]): one["checksum"] for one in packages if "checksum" in one}


def purl(package: dict) -> str:
    return f"pkg:cargo/{quote(package['name'])}@{quote(package['version'])}"


def component(package: dict, known: dict[tuple[str, str], str]) -> dict:
    described = {
        "type": "application" if package["name"] == PROGRAM else "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
    }
    if package["description"]:
        described["description"] = " ".join(package["description"].split())
    if checksum := known.get((package["name"], package["version"])):
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        # Older crates write a slash for "or", which is no expression of SPDX.
        described["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    described["purl"] = purl(package)
    if package["repository"]:
        described["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return described


def main() -> None:
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = reached(metadata)
    known = sums(Path(metadata["workspace_root"]))
    components = sorted((component(packages[one], known) for one in edges), key=lambda one: one["bom-ref"])
    program = next(one for one in components if one["name"] == PROGRAM)
    content = json.dumps(components)
    made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program},
        "components": [one for one in components if one is not program],
        "dependencies": sorted(
            ({"ref": purl(packages[one]), "dependsOn": sorted(purl(packages[other]) for other in edges[one])} for one in edges),
            key=lambda one: one["ref"],
        ),
    }
    print(json.dumps(document, indent=1, ensure_ascii=False))


main()
