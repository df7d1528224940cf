"""Runs the demo from each part of a release, in a root of its own: when it answers first, README's commands, its health, and its end.

usage: journey.py PACKAGES BASE FOLDER VERSION

PACKAGES holds the release, BASE is an empty root of Debian, FOLDER is for what this writes, and VERSION is what `--version` prints. The image
must also resolve a name. Ends with 1 and the reason where a part does not do what a person expects.
"""

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import places
from places import Place

ROOT = Path(__file__).resolve().parents[2]
# Seconds after which a program counts as broken.
PATIENCE = 60
# The name server of the image's test, and every address it knows.
RESOLVER = "127.0.0.97"
NAME = "redis.sightline.test"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Running:
    """A service that was started in a place, at a port that was free."""

    def __init__(self, command: Path) -> None:
        self.said = command.with_suffix(".log")
        self.began = time.monotonic()
        settings = {"PATH": os.environ["PATH"], "SIGHTLINE_LISTEN": "127.0.0.1:0", "RUST_LOG": "info"}
        with self.said.open("w") as said:
            self.process = subprocess.Popen([command, "serve"], env=settings, stdout=said, stderr=subprocess.STDOUT)
        self.address = self._until(r"address=(\S+)")
        self.url = self._until(r"^listening on (\S+)$")
        self.ask("/api/health")
        self.first = time.monotonic() - self.began

    def _until(self, pattern: str) -> str:
        while time.monotonic() < self.began + PATIENCE:
            ended = self.process.poll() is not None
            if found := re.search(pattern, self.said.read_text(), re.MULTILINE):
                return found[1]
            if ended:
                break
            time.sleep(0.005)
        self.process.kill()
        sys.exit(f"{self.said} has no line with {pattern}:\n{self.said.read_text()}")

    def ask(self, path: str) -> str:
        with DIRECT.open(self.url + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def stop(self) -> float:
        """Asks it to end, and returns how long that took."""
        began = time.monotonic()
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        if code != 0:
            sys.exit(f"{self.said}: it ended with {code}")
        return time.monotonic() - began


def run(command: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    """Runs a command of the program, and returns its exit code and what it prints."""
    environment = {"PATH": os.environ["PATH"], **{f"SIGHTLINE_{name}": value for name, value in settings.items()}}
    ended = subprocess.run([command, *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    return ended.returncode, ended.stdout + ended.stderr


def expect(what: str, holds: bool, seen: object) -> None:
    if not holds:
        sys.exit(f"expected {what}; saw {seen}")


def walk(name: str, place: Place, folder: Path, version: str, health: list[str]) -> None:
    """The main job, from one part of the release."""
    command = place.command(folder / name)
    printed = run(command, "--version")
    expect(f"{name} to be {version}", printed == (0, f"sightline {version}\n"), printed)
    service = Running(command)
    try:
        expect(f"a page of {name}", "<html" in service.ask("/"), service.said)
        began = time.monotonic()
        report = run(command, "report", "northmoor", "--as", "owner", LISTEN=service.address)
        number = time.monotonic() - began
        expect(f"numbers from {name}", report[0] == 0 and "Clicks" in report[1].title(), report)
        well = run(command, *health, LISTEN=service.address)
        expect(f"{name} to be well", well == (0, "ok\n"), well)
        readme = [str(ROOT / "tools/recipes/run.py"), str(command), service.url, str(folder / f"{name}-blocks"), "README.md"]
        subprocess.run([sys.executable, "-B", *readme], check=True)
    finally:
        ended = service.stop()
    gone = run(command, *health, LISTEN=service.address)
    expect(f"{name} to be away after its end", gone[0] == 1, gone)
    database = place.database()
    mode = oct(database.stat().st_mode & 0o777) if database.exists() else "no file"
    expect(f"a database of {name} that others cannot read, in {database}", mode == "0o600", mode)
    print(f"{name}: first answer after {service.first:.2f} s, a report in {number:.2f} s, ended within {ended:.2f} s", flush=True)


def name_server(stop: threading.Event) -> Callable[[], None]:
    """A name server that knows one address for every name."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind((RESOLVER, 53))
    listener.settimeout(0.1)

    def serve() -> None:
        while not stop.is_set():
            try:
                question, asker = listener.recvfrom(512)
            except TimeoutError:
                continue
            end = question.index(0, 12) + 5
            is_ipv4 = question[end - 4 : end - 2] == b"\0\1"
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(RESOLVER) if is_ipv4 else b""
            counts = question[4:6] + (b"\0\1" if is_ipv4 else b"\0\0") + b"\0\0\0\0"
            listener.sendto(question[:2] + b"\x81\x80" + counts + question[12:end] + answer, asker)
        listener.close()

    return serve


def resolve(command: Path) -> None:
    """`sightline check` reaches a server that it knows by name only."""
    stop = threading.Event()
    asked = threading.Thread(target=name_server(stop))
    asked.start()
    try:
        with socket.create_server((RESOLVER, 0)) as server:
            server.settimeout(PATIENCE)
            url = f"redis://{NAME}:{server.getsockname()[1]}"
            checking = threading.Thread(target=run, args=(command, "check"), kwargs={"REDIS__URL": url})
            checking.start()
            try:
                server.accept()[0].close()
            except TimeoutError:
                sys.exit(f"the image does not resolve {NAME}")
        checking.join()
    finally:
        stop.set()
        asked.join()
    print(f"image: {NAME} is resolved")


def one(folder: Path, pattern: str) -> Path:
    """The one file of a release with such a name."""
    (found,) = folder.glob(pattern)
    return found


def main() -> None:
    packages, base, folder = map(Path, sys.argv[1:4])
    version = sys.argv[4]
    folder.mkdir(parents=True, exist_ok=True)
    archive = one(packages, "*-linux.tar.gz")
    walk("tarball", places.tarball(archive, base, folder / "tarball-root"), folder, version, ["health"])
    walk("package", places.package(one(packages, "*.deb"), base, folder / "package-root"), folder, version, ["health"])
    place, health = places.image(one(packages, "*.image.tar.gz"), folder / "image-root", RESOLVER)
    walk("image", place, folder, version, health)
    resolve(folder / "image")


main()
