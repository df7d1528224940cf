"""Measures how many people a service carries on this machine, and prints a row of a Markdown table for each run.

usage: main.py SERVER RUN...

A run is PROFILE:PEOPLE. Each has a service of its own in a new folder, a search engine in a process of its own that takes 200 ms for an
answer, and this process, which is the people. SERVER is the program. The profiles:

hosted  People with one to five sites of their own, each with a search account. They look at pages that are warm.
agency  Colleagues who see 20 of the 2,000 sites of one search account, by a grant each. They look at pages that are warm.
cold    The same colleagues, who open overviews that nobody has opened before, one each 40 s a person, at the default pace.

PEOPLE_SECONDS is how long a warm run is measured (60), PEOPLE_COLD_SECONDS a cold one (300). Fails if a page is refused or wrong.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import seed
from browser import Proxy
from load import Load, Result
from service import LATENCY_MS, UNPACED, Service, service, simulator

AGENCY_SITES = 2_000
SITES_EACH = 20
# The sites that a person opens in a run: few where they are warmed before, so that this does not take longer than the run.
OPENS = {"hosted": 1, "agency": 3, "cold": SITES_EACH}

HEADINGS = (
    *("profile", "people", "pages/s", "p50", "p95", "p99", "longest", "503", "429", "unread", "wrong"),
    *("processor a page", "processor", "memory", "requests upstream/s", "the load itself"),
)


class Run:
    """One run: a profile and a number of people, who are made in a new folder."""

    def __init__(self, server: str, profile: str, people: int, folder: Path) -> None:
        self.server = server
        self.profile = profile
        self.people = people
        self.folder = folder

    def agency(self) -> Result:
        """An agency: the demo person with all sites, and colleagues."""
        demo = {"IDENTITY__DEMO_SIGN_IN": "true", "SIMULATOR__SITES": str(AGENCY_SITES)}
        pace = {} if self.profile == "cold" else UNPACED
        with simulator(self.server, self.folder, AGENCY_SITES) as engine:
            with service(self.server, self.folder, engine, demo):
                pass
            with seed.opened(self.folder) as database:
                colleagues = seed.colleagues(database, self.people, SITES_EACH)
            with service(self.server, self.folder, engine, {**demo, **pace}) as serving:
                return asyncio.run(self.measure(serving, colleagues))

    def hosted(self) -> Result:
        """People who have each connected a search account, which has sites of its own."""
        with simulator(self.server, self.folder, seed.MOST_SITES, latency_ms=0) as few:
            with service(self.server, self.folder, few, {}):
                pass
            with seed.opened(self.folder) as database:
                everybody = seed.people(database, self.people, "pro")
            with service(self.server, self.folder, few, UNPACED) as serving:
                asyncio.run(seed.connect(serving.url, everybody))
                asyncio.run(seed.synced(database, self.people))
        # Some of the sites are not verified, and nobody has those.
        with simulator(self.server, self.folder, self.people * 3 + self.people // 10 + 100) as engine:
            with database:
                seed.owners(database, everybody, seed.listed(engine.url))
            with service(self.server, self.folder, engine, UNPACED) as serving:
                return asyncio.run(self.measure(serving, everybody))

    async def measure(self, serving: Service, everybody: list[seed.Person]) -> Result:
        """Lets the people in, and prints the row."""
        proxy = Proxy(serving.url)
        load = Load(proxy, everybody, OPENS[self.profile])
        begun = time.monotonic()
        if self.profile != "cold":
            await load.warm()
            print(f"{self.profile}: warm after {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        before, begun = used(serving), time.monotonic()
        if self.profile == "cold":
            result = await load.run_cold(seconds_of("PEOPLE_COLD_SECONDS", 300))
        else:
            result = await load.run(seconds_of("PEOPLE_SECONDS", 60))
        seconds, after = time.monotonic() - begun, used(serving)
        proxy.close()
        if not result.seconds:
            raise SystemExit("bench-people: nobody opened a page in so short a time")
        spent = {name: after[name] - before[name] for name in before}
        print(row(self.profile, self.people, result, seconds, spent, serving.memory("VmHWM")), flush=True)
        return result


def seconds_of(name: str, usual: int) -> int:
    return int(os.environ.get(name) or usual)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def row(profile: str, people: int, result: Result, seconds: float, used: dict[str, float], memory: int) -> str:
    pages, quantile = len(result.seconds), result.quantile
    times = [milliseconds(quantile(share)) for share in (0.5, 0.95, 0.99, 1.0)]
    counts = [result.statuses[503], result.statuses[429], result.failed, result.wrong]
    rates = [f"{used['service'] / seconds:.2f} cores", f"{memory} MiB", f"{used['asked'] / seconds:.1f}", f"{used['load'] / seconds:.2f} cores"]
    cells = [profile, people, f"{pages / seconds:.1f}", *times, *counts, f"{used['service'] / pages * 1000:.1f} ms"]
    return "| " + " | ".join(str(cell) for cell in [*cells, *rates]) + " |"


def used(serving: Service) -> dict[str, float]:
    """The processor time of the service and of this process, and the requests to the search engine."""
    return {"service": serving.processor(), "load": time.process_time(), "asked": serving.asked()}


def is_good(server: str, profile: str, people: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="people-") as folder:
        run = Run(server, profile, people, Path(folder))
        result = run.hosted() if profile == "hosted" else run.agency()
    for complaint in result.complaints:
        print(f"{profile}: {complaint}", file=sys.stderr)
    return not result.complaints


def main() -> int:
    server = str(Path(sys.argv[1]).resolve())
    runs = [(profile, int(people)) for profile, _, people in (argument.partition(":") for argument in sys.argv[2:])]
    if unknown := {profile for profile, _ in runs} - set(OPENS):
        raise SystemExit(f"bench-people: {', '.join(unknown)} is no profile. There are {', '.join(OPENS)}")
    print(f"The search engine takes {LATENCY_MS} ms for an answer. {os.cpu_count()} cores; load before the runs: {os.getloadavg()[0]:.1f}.\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    return 0 if all([is_good(server, profile, people) for profile, people in runs]) else 1


if __name__ == "__main__":
    sys.exit(main())
