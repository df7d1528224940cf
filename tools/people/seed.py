"""The people of a run, as rows of the service's database: who they are, their sessions, and what they see.

A session is a row by the hash of its cookie, so a thousand people need no password, which would take the service minutes to verify. Search
accounts are connected by the service itself, because it seals what it stores of them.
"""

import asyncio
import hashlib
import json
import random
import sqlite3
import urllib.request
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from browser import Proxy

# People who connect their account at a time.
AT_ONCE = 8
# The sites that each connected account has before it gets its own, and the most of a person.
MOST_SITES = 5


@dataclass
class Person:
    """Somebody with a browser. `sites` are the ids of the properties that they open."""

    number: int
    id: bytes
    cookie: str
    sites: list[str] = field(default_factory=list)

    def headers(self, proxy: Proxy) -> dict[str, str]:
        """What the proxy sends for their browser."""
        address = f"10.{self.number >> 16}.{self.number >> 8 & 255}.{self.number & 255}"
        return {"cookie": f"sightline_session-{proxy.port}={self.cookie}", "x-forwarded-for": address, "accept": "text/html"}


def opened(folder: Path) -> sqlite3.Connection:
    database = sqlite3.connect(folder / "data/sightline.db", timeout=60)
    database.execute("PRAGMA foreign_keys = ON")
    return database


def insert(database: sqlite3.Connection, table: str, **row: object) -> None:
    """Inserts a row. A column that has no value here is NULL."""
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def people(database: sqlite3.Connection, count: int, plan: str) -> list[Person]:
    """Adds people who are signed in."""
    now, found = datetime.now(UTC), []
    for number in range(count):
        person = Person(number, uuid.uuid4().bytes, f"person-{number}")
        email = f"person{number}@bench.test"
        stated = {"email": email, "email_key": email, "email_verified": True, "email_stated_at": text(now)}
        times = {"created_at": text(now), "updated_at": text(now)}
        plans = {"plan": plan, "plan_state": "active"}
        insert(database, "users", id=person.id, issuer="embedded", subject=f"bench-{number}", **stated, **plans, **times)
        hashed, ends = hashlib.sha256(person.cookie.encode()).hexdigest(), text(now + timedelta(days=6))
        insert(database, "session", hash=hashed, id=uuid.uuid4().bytes, user_id=person.id, created_at=text(now), expires_at=ends)
        found.append(person)
    return found


def colleagues(database: sqlite3.Connection, count: int, each: int) -> list[Person]:
    """Adds colleagues of the demo person `network`, each with a grant of `each` sites. Together they see all of them."""
    (owner,) = database.execute("SELECT id FROM users WHERE subject = 'demo-network'").fetchone()
    sites = [site for (site,) in database.execute("SELECT id FROM property WHERE user_id = ? AND tracked ORDER BY id", (owner,))]
    random.Random("sites").shuffle(sites)
    now, found = text(datetime.now(UTC)), people(database, count, "free")
    for person in found:
        grant, email = uuid.uuid4().bytes, f"person{person.number}@bench.test"
        named = {"email": email, "email_key": email, "role": "viewer", "all_properties": False}
        insert(database, "team_grant", id=grant, owner_id=owner, **named, created_at=now, updated_at=now)
        first = person.number * each
        for site in {sites[(first + turn) % len(sites)] for turn in range(each)}:
            insert(database, "team_grant_property", grant_id=grant, property_id=site)
            person.sites.append(str(uuid.UUID(bytes=site)))
        person.sites.sort()
    return found


def listed(engine: str) -> list[str]:
    """The sites that the account `network` may read at the search engine, in an order that says nothing."""
    request = urllib.request.Request(f"{engine}/webmasters/v3/sites", headers={"authorization": "Bearer sim-network"})
    with urllib.request.urlopen(request) as answer:
        entries = json.load(answer)["siteEntry"]
    sites = [entry["siteUrl"] for entry in entries if entry["permissionLevel"] != "siteUnverifiedUser"]
    random.Random("sites").shuffle(sites)
    return sites


async def connect(url: str, everybody: list[Person]) -> None:
    """Connects a search account for each person, by the code grant that the service's own page begins."""
    proxy, gate = Proxy(url), asyncio.Semaphore(AT_ONCE)

    async def one(person: Person) -> None:
        async with gate:
            headers = person.headers(proxy)
            left = await proxy.send("POST", "/account/search/connect", {**headers, "origin": url})
            attempt = {**headers, "cookie": f"{headers['cookie']}; {left.cookies()}"}
            engine, _, path = left.headers["location"].removeprefix("http://").partition("/")
            there = Proxy(f"http://{engine}")
            consented = await there.send("GET", f"/{path}&login_hint=network&prompt=consent", {})
            there.close()
            back = await proxy.send("GET", consented.headers["location"].removeprefix(url), attempt)
            assert back.status == 303 and "/account/search/" in back.headers["location"], (back.status, back.body[-500:])

    await asyncio.gather(*(one(person) for person in everybody))
    proxy.close()


async def synced(database: sqlite3.Connection, count: int) -> None:
    """Waits until the sites of all accounts are in the database."""
    async with asyncio.timeout(120):
        while database.execute("SELECT count(*) FROM search_account WHERE synced_at IS NOT NULL").fetchone()[0] < count:
            await asyncio.sleep(0.2)


def owners(database: sqlite3.Connection, everybody: list[Person], sites: list[str]) -> None:
    """Gives each person an account, and one to five sites, of their own: all connected the same account with the same sites."""
    shared = {site for (site,) in database.execute("SELECT DISTINCT site_url FROM property")}
    now, rest = text(datetime.now(UTC)), iter([site for site in sites if site not in shared])
    for person in everybody:
        database.execute("UPDATE search_account SET subject = 'bench-' || hex(id) WHERE user_id = ?", (person.id,))
        own = [one for (one,) in database.execute("SELECT id FROM property WHERE user_id = ? ORDER BY id", (person.id,))]
        kept, spare = own[: 1 + person.number % MOST_SITES], own[1 + person.number % MOST_SITES :]
        for site in kept:
            database.execute(
                "UPDATE property SET site_url = ?, tracked = TRUE, tracked_at = ? WHERE id = ?", (next(rest), now, site)
            )
            person.sites.append(str(uuid.UUID(bytes=site)))
        for site in spare:
            database.execute("DELETE FROM property WHERE id = ?", (site,))
