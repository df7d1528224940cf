"""Runs the fenced code blocks of documents, in order, in one folder.

usage: run.py SERVER URL FOLDER DOCUMENT...

- A block of `sh`, `python` or `js` is run with `bash -eu -o pipefail`, Python or Node. Other languages are not run; `json` and `toml` must
  parse. Each block names its language.
- A block below the line `<!-- not run: REASON -->` is not run.
- A block whose first line is a comment with a file name, such as `# client.py`, is saved under this name instead.
- What a block of `sh` sets, later blocks have in their environment.
- A block of `output` holds what each block before it prints, back to the output or heading before. White space does not count, any number
  stands for any other, and `…` for anything; in a block of `output exact` a number is that number. Blocks that share an output print the
  same. A block of `sh` may print nothing.
- `cargo run -q -- COMMAND` runs SERVER, and SIGHTLINE_LISTEN names the address of the running service.

A block that ends with a failure, or prints something else, ends the run and is named by its document and line.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
RUN = {"sh": ("bash", "-eu", "-o", "pipefail"), "python": (sys.executable, "-B"), "js": ("node",)}
ENDINGS = {"sh": ".sh", "python": ".py", "js": ".mjs"}
# Keeps the variables and functions of a shell for the blocks that follow.
KEPT = 'set -a\n{}\nenv -0 >"$BLOCK_STATE"\n'
FENCE = re.compile(r"^( *)```(.*)$")
NOT_RUN = re.compile(r"^\s*<!-- not run: .+ -->$")
NAME = re.compile(r"^(?:#|//) ([a-z]+\.(?:py|mjs|sh))$")
OUTPUT, EXACT, HEADING = "output", "output exact", "a heading"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@dataclass
class Block:
    """A fenced block of a document, or a heading."""

    place: str
    language: str
    text: str
    skipped: bool



def blocks(document: str) -> list[Block]:
    """The blocks and headings of a document."""
    found: list[Block] = []
    before, lines = "", iter(enumerate((ROOT / document).read_text().splitlines(), 1))
    for number, line in lines:
        if fence := FENCE.match(line):
            indent, language = fence[1], fence[2].strip()
            text = []
            for _, inner in lines:
                if inner == indent + "```":
                    break
                text.append(inner.removeprefix(indent))
            place = f"{document}:{number}"
            if not language:
                sys.exit(f"{place}: the block names no language")
            found.append(Block(place, language, "\n".join(text) + "\n", bool(NOT_RUN.match(before))))
        elif line.startswith("#"):
            found.append(Block(f"{document}:{number}", HEADING, line, True))
        if line.strip():
            before = line
    return found


def bare(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def missing(output: Block, printed: str) -> str | None:
    """The part of an output that is not in what was printed, in its place."""
    printed, parts, at = bare(printed), bare(output.text).split("…"), 0
    for index, part in enumerate(parts):
        exact = re.escape(part) if output.language == EXACT else NUMBER.pattern.join(map(re.escape, NUMBER.split(part)))
        pattern = re.compile(exact + (r"\Z" if index == len(parts) - 1 else ""))
        match = pattern.match(printed, at) if index == 0 else pattern.search(printed, at)
        if not match:
            return part
        at = match.end()
    return None


def save(block: Block, folder: Path) -> bool:
    """Saves a block that names its file. False if it names none."""
    name = NAME.match(block.text.partition("\n")[0])
    if name:
        (folder / name[1]).write_text(block.text)
    return bool(name)


def run(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """Runs a block, and returns what it prints. What a shell sets is added to the environment."""
    script, state = folder / ("block" + ENDINGS[block.language]), folder / "state"
    script.write_text(KEPT.format(block.text) if block.language == "sh" else block.text)
    ended = subprocess.run(
        [*RUN[block.language], str(script)],
        cwd=folder,
        env={**environment, "BLOCK_STATE": str(state)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    if ended.returncode != 0:
        sys.exit(f"{block.place}: ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
    if block.language == "sh":
        environment.update(pair.split("=", 1) for pair in state.read_text().split("\0") if "=" in pair)
    return ended.stdout


def parse(block: Block) -> None:
    """Parses a block that is not run."""
    try:
        {"json": json.loads, "toml": tomllib.loads}.get(block.language, str)(block.text)
    except ValueError as error:
        sys.exit(f"{block.place}: {error}")


def compare(output: Block, printed: dict[str, str]) -> None:
    """Holds what blocks printed against an `output`."""
    if not printed:
        sys.exit(f"{output.place}: no block was run before this output")
    for place, text in printed.items():
        if (part := missing(output, text)) is not None:
            sys.exit(f"{place}: {output.place} says that this is printed: {part}\nPrinted was:\n{text[:4000]}")
    if len({bare(text) for text in printed.values()}) > 1:
        sys.exit("These blocks do not print the same:\n" + "\n".join(f"{place}\n{text[:4000]}" for place, text in printed.items()))


def walk(document: str, folder: Path, environment: dict[str, str]) -> None:
    """Runs the blocks of a document."""
    printed: dict[str, str] = {}
    ran, held = 0, 0
    for block in blocks(document):
        if block.language in (OUTPUT, EXACT):
            compare(block, printed)
            held += len(printed)
        if block.language in (OUTPUT, EXACT, HEADING):
            printed = {}
        elif block.language not in RUN:
            parse(block)
        elif not block.skipped and not save(block, folder):
            ran += 1
            text = run(block, folder, environment)
            if text or block.language != "sh":
                printed[block.place] = text
    print(f"{document}: {ran} blocks run, {held} print what is written")


def main() -> None:
    server, url, folder, documents = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    tools = folder / "bin"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    tools.mkdir(parents=True)
    cargo = tools / "cargo"
    cargo.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "run -q --" ] || exit 9\nshift 3\nexec {server} "$@"\n')
    cargo.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE_")}
    environment["PATH"] = f"{tools}:{environment['PATH']}"
    environment["SIGHTLINE_LISTEN"] = url.removeprefix("http://")
    for document in documents:
        walk(document, folder, environment)


if __name__ == "__main__":
    main()
