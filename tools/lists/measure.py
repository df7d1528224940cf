"""Measures the list of properties of a person with many sites, at a simulated search engine that takes 200 ms for an answer.

usage: measure.py SERVER SITES...

SERVER is the program. Each number of sites gets a service of its own in a new folder. Prints a row of a Markdown table for each.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

LATENCY_MS = 200
# Questions of another person, before the list is read and meanwhile.
QUESTIONS = 5


class Service:
    """A running service and what people ask it."""

    def __init__(self, server: str, sites: int, folder: str) -> None:
        self.server = server
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "RUST_LOG": "warn",
            "SIGHTLINE_LISTEN": "127.0.0.1:0",
            "SIGHTLINE_RATE_LIMIT__ENABLED": "false",
            "SIGHTLINE_SIMULATOR__SITES": str(sites),
            "SIGHTLINE_SIMULATOR__LATENCY_MS": str(LATENCY_MS),
        }
        self.process = subprocess.Popen(
            [server, "serve"], cwd=folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("listening on ").strip()
        self.environment["SIGHTLINE_BASE_URL"] = self.url

    def token(self, name: str) -> str:
        command = [self.server, "login", "--as", name]
        signed_in = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=True)
        return signed_in.stdout.strip()

    def get(self, token: str, path: str) -> tuple[float, dict]:
        """The seconds that an answer takes, and the answer."""
        request = urllib.request.Request(self.url + path, headers={"authorization": f"Bearer {token}"})
        begun = time.monotonic()
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        return time.monotonic() - begun, json.loads(body)

    def memory(self) -> str:
        """The resident memory, where the system tells it."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return "not measured"
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return f"{int(line.split()[1]) // 1024} MiB"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def question(service: Service, token: str, day: int) -> float:
    """The seconds of a question about a day that nobody has asked about."""
    listed = service.get(token, "/api/properties?headline=false")[1]["data"]
    date = f"2026-09-{day:02}"
    path = f"/api/properties/{listed[0]['id']}/performance?startDate={date}&endDate={date}"
    return service.get(token, path)[0]


def measure(server: str, sites: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(server, sites, folder)
        try:
            network, owner = service.token("network"), service.token("owner")
            question(service, owner, 1)
            quiet = [question(service, owner, 2 + day) for day in range(QUESTIONS)]
            begun, first, meanwhile, lists = time.monotonic(), None, [], 0
            while True:
                seconds, answer = service.get(network, "/api/properties")
                lists += 1
                first = first or seconds
                states = {entry["access"] for entry in answer["data"]}
                assert "search_engine_unavailable" not in states, states
                if answer["meta"]["progress"]["stillReading"] == 0:
                    break
                if len(meanwhile) < QUESTIONS:
                    meanwhile.append(question(service, owner, 10 + len(meanwhile)))
            complete = time.monotonic() - begun
            following = statistics.median(service.get(network, "/api/properties")[0] for _ in range(QUESTIONS))
            other = f"{statistics.median(meanwhile) / statistics.median(quiet):.2f}" if meanwhile else ""
            return (
                f"| {sites} | {first:.2f} s | {complete:.1f} s in {lists} lists | {following * 1000:.0f} ms "
                f"| {statistics.median(quiet) * 1000:.0f} ms | {other} | {service.memory()} |"
            )
        finally:
            service.stop()


def main() -> None:
    server = str(Path(sys.argv[1]).resolve())
    print("| sites | first list | complete | following lists | another person's question | while the list is read, in times | memory |")
    print("|---|---|---|---|---|---|---|")
    for sites in sys.argv[2:]:
        print(measure(server, int(sites)), flush=True)


main()
