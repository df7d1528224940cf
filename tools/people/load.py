"""The load: people with browsers, who open a page, look at it for a while, and open the next."""

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from browser import Page, Proxy
from seed import Person

# Seconds that somebody looks at a page.
THINK = (5.0, 15.0)
# Seconds between two overviews of a person that nobody has opened before, on average 40.
COLD_THINK = (30.0, 50.0)
# Pages that are opened at a time before the measurement.
WARMING_AT_ONCE = 24
# What a person does with a site: overview, table of queries, a filter, table of pages.
PARTS = ("", "/queries", "/where/device=MOBILE/overview", "/pages")

# The first figure of a page: the clicks of a tile, or of the first row of a table.
FIGURE = re.compile(rb"<(?:strong|td)>([0-9,]+)</")
# What a page shows that could not be read, or is still being read.
FAILED = (b'role="alert"', b"The search engine does not answer")
WAITING = b"still being read"


@dataclass
class Result:
    """What came of a run: seconds of each page, and how many were not as they should be."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    failed: int = 0
    wrong: int = 0
    complaints: list[str] = field(default_factory=list)

    def add(self, path: str, page: Page, expected: int | None) -> None:
        self.seconds.append(page.seconds)
        self.statuses[page.status] += 1
        if page.status != 200:
            self.complain(f"{path}: {page.status}")
        elif any(sign in page.body for sign in FAILED):
            self.failed += 1
            self.complain(f"{path}: a part cannot be read")
        elif figure(page) != expected:
            self.wrong += 1
            self.complain(f"{path}: shows {figure(page)} instead of {expected}")

    def complain(self, text: str) -> None:
        if len(self.complaints) < 10:
            self.complaints.append(text)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figure(page: Page) -> int | None:
    found = FIGURE.search(page.body)
    return int(found[1].replace(b",", b"")) if found else None


class Load:
    """People at one service."""

    def __init__(self, proxy: Proxy, everybody: list[Person], most_sites: int) -> None:
        self.proxy = proxy
        self.dice = random.Random("load")
        self.everybody = everybody
        self.chosen = {person.number: self.dice.sample(person.sites, min(most_sites, len(person.sites))) for person in everybody}
        # The first figure of each page, and the sites that the search engine does not show.
        self.figures: dict[tuple[int | None, str], int | None] = {}
        self.refused: set[str] = set()

    async def open(self, person: Person, path: str) -> Page:
        return await self.proxy.send("GET", path, person.headers(self.proxy))

    async def clicks(self, person: Person, site: str) -> int | None:
        """The clicks of a site as the API has them. None if the search engine refuses the site."""
        answer = await self.open(person, f"/api/properties/{site}/performance")
        if answer.status in (404, 409):
            return None
        assert answer.status == 200, (answer.status, answer.body[:500])
        return json.loads(answer.body)["data"]["totals"]["clicks"]

    async def warm(self) -> None:
        """Opens every page of the run once, holds overviews against the API, and remembers the figures."""
        gate = asyncio.Semaphore(WARMING_AT_ONCE)
        some_visitor = {site: person for person in self.everybody for site in self.chosen[person.number]}

        async def site(person: Person, name: str) -> None:
            async with gate:
                clicks = await self.clicks(person, name)
                if clicks is None:
                    self.refused.add(name)
                    return
                for part in PARTS:
                    page = await self._whole(person, f"/p/{name}{part}")
                    self.figures[None, f"/p/{name}{part}"] = figure(page)
                assert self.figures[None, f"/p/{name}"] == clicks, f"/p/{name} shows other clicks than {clicks}"

        async def sites(person: Person) -> None:
            async with gate:
                self.figures[person.number, "/"] = figure(await self._whole(person, "/"))

        await asyncio.gather(*(site(person, name) for name, person in some_visitor.items()))
        await asyncio.gather(*(sites(person) for person in self.everybody))

    async def _whole(self, person: Person, path: str) -> Page:
        """The page, once everything on it has been read."""
        for _ in range(60):
            page = await self.open(person, path)
            assert page.status == 200, (path, page.status, page.body[-500:])
            if WAITING not in page.body and not any(sign in page.body for sign in FAILED):
                return page
            await asyncio.sleep(2)
        raise AssertionError(f"{path} is not read to its end:\n{page.body.decode()[-3000:]}")

    def _path(self, person: Person, dice: random.Random) -> Iterator[str]:
        """The pages that a person opens, one after the other."""
        while True:
            yield "/"
            if sites := [site for site in self.chosen[person.number] if site not in self.refused]:
                site = dice.choice(sites)
                yield from (f"/p/{site}{part}" for part in PARTS)

    async def run(self, seconds: float) -> Result:
        """Lets everybody look at pages that are warm."""
        result, end = Result(), time.monotonic() + seconds

        async def person(one: Person) -> None:
            dice = random.Random(f"person {one.number}")
            pause = dice.uniform(0, THINK[1])
            for path in self._path(one, dice):
                if time.monotonic() + pause >= end:
                    return
                await asyncio.sleep(pause)
                page = await self.open(one, path)
                result.add(path, page, self.figures[one.number if path == "/" else None, path])
                pause = dice.uniform(*THINK)

        await asyncio.gather(*(person(one) for one in self.everybody))
        return result

    async def run_cold(self, seconds: float) -> Result:
        """Lets everybody open overviews that nobody has opened before. Each is held against the API."""
        result, end = Result(), time.monotonic() + seconds

        async def person(one: Person) -> None:
            dice = random.Random(f"person {one.number}")
            due = time.monotonic() + dice.uniform(0, COLD_THINK[1])
            for site in self.chosen[one.number]:
                if due >= end:
                    return
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                due += dice.uniform(*COLD_THINK)
                page = await self.open(one, f"/p/{site}")
                clicks = await self.clicks(one, site)
                if clicks is None:
                    self.refused.add(site)
                else:
                    result.add(f"/p/{site}", page, clicks)

        await asyncio.gather(*(person(one) for one in self.everybody))
        return result
