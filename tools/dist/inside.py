"""Runs a program in a root of its own, as a container engine or systemd does. It replaces this process.

usage: unshare --mount inside.py PLACE ARGUMENT...

PLACE is a file of JSON, as `Place` in places.py writes it. Variables of Sightline and the level of its log reach the program, and no others.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def main() -> None:
    place = json.loads(Path(sys.argv[1]).read_text())
    root = place["root"]
    mount("--bind", root, root)
    for name in ("proc", "dev"):
        Path(root, name).mkdir(exist_ok=True)
        mount("--rbind", f"/{name}", f"{root}/{name}")
    for outside, inside in place["mounts"].items():
        mount("--bind", outside, root + inside)
    if place["read_only"]:
        mount("-o", "remount,bind,ro", root)
    passed = {name: value for name, value in os.environ.items() if name.startswith("SIGHTLINE_") or name == "RUST_LOG"}
    os.chroot(root)
    os.chdir(place["folder"])
    user, group = place["user"]
    os.setgroups([group])
    os.setgid(group)
    os.setuid(user)
    os.execve(place["program"], [place["program"], *sys.argv[2:]], {**place["environment"], **passed})


main()
