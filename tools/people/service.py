"""What the benchmark starts: the search engine and the service, each a process of its own, and what they use."""

import os
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import Self

TICKS = os.sysconf("SC_CLK_TCK")

# Milliseconds that the search engine takes for an answer.
LATENCY_MS = 200

# Without a pace towards the search engine, so that answers are soon there. Warm pages ask it nothing.
UNPACED = {
    "SEARCH_ENGINE__BUCKET": "1000000",
    "SEARCH_ENGINE__REFILL_PER_SECOND": "1000000",
    "SEARCH_ENGINE__MAX_IN_FLIGHT": "64",
    "SEARCH_ENGINE__QUOTA__PER_MINUTE": "1000000",
}


class Program:
    """A running program of Sightline in a folder, with no settings but these. Its address is `url`."""

    def __init__(self, server: str, folder: Path, arguments: list[str], settings: dict[str, str]) -> None:
        named = {f"SIGHTLINE_{name}": value for name, value in settings.items()}
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "RUST_LOG": "warn", **named}
        with (folder / f"{arguments[0]}.log").open("a") as log:
            self.process = subprocess.Popen(
                [server, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit(f"bench-people: {arguments[0]} does not start:\n{Path(log.name).read_text()[-2000:]}")
        self.url = line.removeprefix("listening on ").strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def processor(self) -> float:
        """The seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, which: str) -> int:
        """Its resident memory in MiB: now (`VmRSS`), or the most that it had (`VmHWM`)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{which}:")[1].split()[0]) // 1024


class Service(Program):
    """A running service, and what it counts."""

    def __init__(self, server: str, folder: Path, settings: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.metrics = f"127.0.0.1:{probe.getsockname()[1]}"
        super().__init__(server, folder, ["serve"], {**settings, "METRICS__LISTEN": self.metrics})

    def asked(self) -> float:
        """The number of requests that it has sent to the search engine."""
        with urllib.request.urlopen(f"http://{self.metrics}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("sightline_search_engine_requests_total{"))


def simulator(server: str, folder: Path, sites: int, latency_ms: int = LATENCY_MS) -> Program:
    settings = {"SIMULATOR__SITES": str(sites), "SIMULATOR__LATENCY_MS": str(latency_ms)}
    return Program(server, folder, ["simulator", "--listen", "127.0.0.1:0"], settings)


def service(server: str, folder: Path, engine: Program, settings: dict[str, str]) -> Service:
    """A service that reads `engine`, and takes the load for a proxy that names the address of each person."""
    usual = {
        "LISTEN": "127.0.0.1:0",
        "SEARCH_ENGINE__API_URL": engine.url,
        "SEARCH_ENGINE__AUTHORIZE_URL": f"{engine.url}/o/oauth2/v2/auth",
        "SEARCH_ENGINE__TOKEN_URL": f"{engine.url}/token",
        "SEARCH_ENGINE__REVOKE_URL": f"{engine.url}/revoke",
        "SEARCH_ENGINE__USERINFO_URL": f"{engine.url}/userinfo",
        "SEARCH_ENGINE__CLIENT_ID": "sightline",
        "SEARCH_ENGINE__CLIENT_SECRET": "simulated",
        "RATE_LIMIT__TRUSTED_PROXIES": "127.0.0.1",
        "PLANS__AGENCY__TRACKED_PROPERTIES": "10000",
    }
    return Service(server, folder, {**usual, **settings})
