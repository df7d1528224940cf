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
from service import LATENCY_MS, UNPACED, Program, Service, service, simulator

AGENCY_SITES = 2_000
SITES_EACH = 20
# The sites that a person opens in a warm run, so that it does not take longer to warm them than to measure.
AGENCY_OPENS = 3
HOSTED_OPENS = 1

HEADINGS = (
    *("profile", "people", "pages/s", "p50", "p95", "p99", "longest", "503", "429", "unread", "wrong"),
    *("processor a page", "processor", "memory", "requests upstream/s", "the load itself"),
)


def settings(name: str, usual: int) -> int:
    return int(os.environ.get(name) or usual)


def agency(server: str, folder: Path, people: int, pace: dict[str, str], each: int) -> tuple[Program, Service, list[seed.Person]]:
    """An agency: the demo person with all sites, and colleagues."""
    demo = {"IDENTITY__DEMO_SIGN_IN": "true", "SIMULATOR__SITES": str(AGENCY_SITES)}
    engine = simulator(server, folder, AGENCY_SITES)
    service(server, folder, engine, demo).stop()
    with seed.opened(folder) as database:
        colleagues = seed.colleagues(database, people, each)
    database.close()
    return engine, service(server, folder, engine, {**demo, **pace}), colleagues


def hosted(server: str, folder: Path, people: int) -> tuple[Program, Service, list[seed.Person]]:
    """People who have each connected a search account, of which each has sites of its own."""
    few = simulator(server, folder, seed.MOST_SITES, latency_ms=0)
    service(server, folder, few, {}).stop()
    with seed.opened(folder) as database:
        everybody = seed.people(database, people, "pro")
    start = service(server, folder, few, UNPACED)
    asyncio.run(seed.connect(start.url, everybody))
    asyncio.run(seed.synced(database, people))
    start.stop()
    few.stop()
    # A few of the sites are not verified, and nobody has those.
    engine = simulator(server, folder, people * 3 + people // 10 + 100)
    with database:
        seed.owners(database, everybody, seed.listed(engine.url))
    database.close()
    return engine, service(server, folder, engine, UNPACED), everybody


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


async def measure(profile: str, serving: Service, everybody: list[seed.Person]) -> tuple[str, Result]:
    is_cold = profile == "cold"
    proxy = Proxy(serving.url)
    opens = {"hosted": HOSTED_OPENS, "agency": AGENCY_OPENS, "cold": SITES_EACH}[profile]
    load = Load(proxy, everybody, opens)
    begun = time.monotonic()
    if not is_cold:
        await load.warm()
    print(f"{profile}: warm after {time.monotonic() - begun:.0f} s, {serving.memory('VmRSS')} MiB", file=sys.stderr, flush=True)
    before, begun = used(serving), time.monotonic()
    if is_cold:
        result = await load.run_cold(settings("PEOPLE_COLD_SECONDS", 300))
    else:
        result = await load.run(settings("PEOPLE_SECONDS", 60))
    seconds, after = time.monotonic() - begun, used(serving)
    proxy.close()
    spent = {name: after[name] - before[name] for name in before}
    return row(profile, len(everybody), result, seconds, spent, serving.memory("VmHWM")), result


def run(server: str, profile: str, people: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="people-") as name:
        folder = Path(name)
        if profile == "hosted":
            engine, serving, everybody = hosted(server, folder, people)
        else:
            engine, serving, everybody = agency(server, folder, people, {} if profile == "cold" else UNPACED, SITES_EACH)
        try:
            line, result = asyncio.run(measure(profile, serving, everybody))
        finally:
            serving.stop()
            engine.stop()
    print(line, flush=True)
    for complaint in result.complaints:
        print(f"{profile}: {complaint}", file=sys.stderr)
    return not result.complaints


def main() -> int:
    server = str(Path(sys.argv[1]).resolve())
    runs = [(profile, int(people)) for profile, people in (argument.split(":") for argument in sys.argv[2:])]
    print(f"The search engine takes {LATENCY_MS} ms for an answer. {os.cpu_count()} cores; load before the runs: {os.getloadavg()[0]:.1f}.\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    return 0 if all([run(server, profile, people) for profile, people in runs]) else 1


if __name__ == "__main__":
    sys.exit(main())
