"""The load: readers, writers, people whose access is withdrawn, one who asks too often, and crowds."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable

from caller import Caller
from history import History, now
from world import World

# Small sites of the owner and of the stranger, whose account the storm uses alone.
SITES = ("sc-domain:northmoor.example", "https://www.ledgerline.example/", "https://tinyfern.test/", "sc-domain:harbourpost.example")
CROWDED = "https://tinyfern.test/"
WRITTEN = "https://www.ledgerline.example/"
SHARED = "sc-domain:northmoor.example"
STORMED = "sc-domain:quietmeadow.test"

ANALYSES = ("performance?", "performance?scope=all&", "countries?", "query-count?", "branded-traffic?")
FORM = {"content-type": "application/x-www-form-urlencoded"}

# Requests of one kind of load under way at most, so that it waits while a replica is stopped.
MOST_AT_ONCE = 30
# Attempts of a write or a withdrawal, half a second apart.
ATTEMPTS = 80


class Load:
    """All load of a run."""

    def __init__(self, world: World, history: History, caller: Caller, seed: int) -> None:
        self.world = world
        self.history = history
        self.caller = caller
        self.seed = seed
        self.ending = asyncio.Event()
        self.is_rolling = asyncio.Event()
        self.tasks: set[asyncio.Task] = set()
        self.numbers = itertools.count(1)
        self.crowds = itertools.count(1)
        self.bodies: dict[str, bytes] = {}

    def dice(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def spawn(self, work: Awaitable) -> asyncio.Task:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception():
            self.history.add("trouble", now(), error=repr(task.exception()))

    def start(self) -> None:
        for name, rate, work in (
            ("readers", 9.0, self.read),
            ("records", 3.0, self.list_records),
            ("writers", 3.0, self.write),
            ("hammer", 3.0, self.hammer),
        ):
            self.spawn(self._every(1 / rate, work, self.dice(name)))
        for name, work in (("links", self.link), ("tokens", self.token), ("members", self.member)):
            self.spawn(self._again(work, self.dice(name)))
        for number in range(6):
            self.spawn(self._again(self.storm, self.dice(f"storm {number}")))
        for number in range(8):
            self.spawn(self._roll(self.dice(f"rolling {number}")))

    async def stop(self) -> None:
        """Starts nothing more, and waits for what is under way."""
        self.ending.set()
        while self.tasks:
            await asyncio.wait(list(self.tasks))

    async def _every(self, seconds: float, work: Callable[[random.Random], Awaitable], dice: random.Random) -> None:
        under_way: set[asyncio.Task] = set()
        while not self.ending.is_set():
            under_way = {task for task in under_way if not task.done()}
            if len(under_way) < MOST_AT_ONCE:
                under_way.add(self.spawn(work(dice)))
            await asyncio.sleep(seconds * dice.uniform(0.5, 1.5))

    async def _again(self, work: Callable[[random.Random], Awaitable], dice: random.Random) -> None:
        while not self.ending.is_set():
            await work(dice)

    # Reading

    def question(self, dice: random.Random, *, hot: bool) -> tuple[str, str, str]:
        """A question of the owner: one of twenty, or one that hardly anybody has asked."""
        if hot:
            dice = random.Random(f"{self.seed} hot {dice.randrange(20)}")
        analysis, site = dice.choice(ANALYSES), dice.choice(SITES)
        last = dice.randrange(12, 400)
        return "owner", site, f"{analysis}startDate={self.world.day(last + dice.randrange(4))}&endDate={self.world.day(last)}"

    async def ask(self, op: str, question: tuple[str, str, str], **facts) -> None:
        person, site, path = question
        property_id = self.caller.properties[person][site]
        await self.caller.send(op, "GET", f"/api/properties/{property_id}/{path}", person=person, question=question, **facts)

    async def read(self, dice: random.Random) -> None:
        hot = dice.random() < 0.9
        await self.ask("warm" if hot else "cold", self.question(dice, hot=hot))

    async def cold(self, dice: random.Random) -> None:
        """A large question that hardly anybody has asked: all tables of two windows."""
        site, last = dice.choice(SITES), dice.randrange(12, 400)
        window = f"startDate={self.world.day(last + dice.randrange(4))}&endDate={self.world.day(last)}"
        await self.ask("cold", ("owner", site, f"performance?scope=all&compare=previous_period&{window}"))

    async def list_records(self, dice: random.Random) -> None:
        property_id = self.caller.properties["owner"][dice.choice(SITES)]
        paths = ("/api/tags", f"/api/properties/{property_id}/segments", "/api/properties?headline=false", "/api/team", "/api")
        await self.caller.send("records", "GET", dice.choice(paths))

    async def hammer(self, dice: random.Random) -> None:
        """One person asks more often than the plan allows."""
        del dice
        await self.caller.send("hammer", "GET", "/api/tags", person="viewer")

    async def storm(self, dice: random.Random) -> None:
        """Cold questions of one site without a pause, so that its pace is used up. Every tenth is held against the oracle."""
        last = dice.randrange(12, 450)
        path = f"performance?startDate={self.world.day(last + dice.randrange(3))}&endDate={self.world.day(last)}"
        property_id = self.caller.properties["stranger"][STORMED]
        question = ("stranger", STORMED, path) if dice.random() < 0.1 else None
        await self.caller.send("storm", "GET", f"/api/properties/{property_id}/{path}", person="stranger", question=question)
        await asyncio.sleep(0.05)

    async def _roll(self, dice: random.Random) -> None:
        """More requests while replicas are replaced."""
        while not self.ending.is_set():
            if self.is_rolling.is_set():
                if dice.random() < 0.5:
                    await self.ask("rolling", self.question(dice, hot=True))
                else:
                    await self.list_records(dice)
                await asyncio.sleep(0.03)
            else:
                await asyncio.sleep(0.2)

    async def crowd(self, size: int, kind: str) -> None:
        """Many people ask one question at once that nobody has asked, while the search engine takes a second."""
        number = next(self.crowds)
        # Five-day windows, which no other load has.
        last = 12 + number * 3
        question = ("owner", CROWDED, f"performance?startDate={self.world.day(last + 4)}&endDate={self.world.day(last)}")
        record = self.history.open("crowd", crowd=number, size=size, day=self.world.day(last + 4), last=self.world.day(last), as_of=kind)
        self.world.engine.delays[CROWDED] = 1.0 if kind == "quiet" else 3.0
        names = [name for name in self.world.replicas if self.world.balancer.is_well(name)]
        asked = [self.ask("crowd", question, crowd=number, replica=names[turn % len(names)]) for turn in range(size)]
        await asyncio.gather(*asked)
        self.world.engine.delays.pop(CROWDED, None)
        self.history.close(record)

    # Writing

    async def write(self, dice: random.Random) -> None:
        """A keyed write, repeated with its key until its outcome is known, or given up at once by some."""
        number = next(self.numbers)
        key, text = f"soak-{self.seed}-{number}", f"note {number}"
        gives_up, repeats = dice.random() < 0.3, dice.random() < 0.2
        path = f"/api/properties/{self.caller.properties['owner'][WRITTEN]}/annotations"
        body = {"date": self.world.day(20 + number % 300), "text": text}
        record = self.history.open("write", key=key, text=text, outcome="unknown")
        bodies = []
        for attempt in range(ATTEMPTS):
            answer = await self.caller.send("write", "POST", path, body=body, fields={"idempotency-key": key}, attempt=attempt)
            if answer and answer.status == 201:
                bodies.append(answer.body)
                if not repeats or len(bodies) == 2:
                    break
            elif gives_up and not bodies:
                break
            elif attempt:
                await asyncio.sleep(0.5)
        same = len(set(bodies)) <= 1
        self.history.close(record, outcome="acknowledged" if bodies else "unknown", answers=len(bodies), same=same)

    async def insist(self, op: str, method: str, path: str, wanted: tuple[int, ...], **how):
        """Repeats a request until one of the `wanted` statuses answers it."""
        for attempt in range(ATTEMPTS):
            answer = await self.caller.send(op, method, path, attempt=attempt, **how)
            if answer and answer.status in wanted:
                return answer
            await asyncio.sleep(0.5)
        return None

    # Withdrawing

    async def _withdrawn(self, kind: str, dice: random.Random, reading: Callable[..., Awaitable], withdraw: Callable[[], Awaitable]) -> None:
        """Reads with some access while it is withdrawn, and after."""
        subject, withdrawn = f"{kind} {next(self.numbers)}", asyncio.Event()

        async def read() -> None:
            for _ in range(3):
                await reading(subject=subject)
            while not withdrawn.is_set():
                await reading(subject=subject)
                await asyncio.sleep(0.2)
            for _ in range(6):
                await reading(subject=subject)

        readers = [self.spawn(read()) for _ in range(2)]
        await asyncio.sleep(dice.uniform(1, 4))
        record = self.history.open("withdrawal", subject=subject, answered=False)
        answer = await withdraw()
        self.history.close(record, answered=answer is not None)
        withdrawn.set()
        await asyncio.gather(*readers)
        await asyncio.sleep(dice.uniform(0, 2))

    async def link(self, dice: random.Random) -> None:
        """A share link that is revoked."""
        path = f"/api/properties/{self.caller.properties['owner'][SHARED]}/share-links"
        fields = {"idempotency-key": f"link-{self.seed}-{next(self.numbers)}"}
        made = await self.insist("grant", "POST", path, (201,), body={"name": "soak"}, fields=fields)
        if made is None:
            return
        link = made.json()["data"]
        window = f"startDate={self.world.day(31)}&endDate={self.world.day(30)}"

        async def read(**facts) -> None:
            question = ("owner", SHARED, f"performance?{window}")
            shared = f"/api/share/{link['token']}/performance?{window}"
            await self.caller.send("shared", "GET", shared, person=None, question=question, site=SHARED, **facts)

        await self._withdrawn("link", dice, read, lambda: self.insist("withdraw", "DELETE", f"{path}/{link['id']}", (204, 404)))

    async def token(self, dice: random.Random) -> None:
        """An access token that is revoked."""
        try:
            token = await self.world.token("owner")
        except Exception:  # noqa: BLE001  The command fails while the service is away.
            await asyncio.sleep(1)
            return

        async def read(**facts) -> None:
            await self.caller.send("token", "GET", "/api/tags", token=token, **facts)

        form = f"token={token}&client_id=sightline-cli".encode()
        await self._withdrawn(
            "token", dice, read, lambda: self.insist("withdraw", "POST", "/oauth/revoke", (200,), person=None, body=form, fields=FORM)
        )

    async def member(self, dice: random.Random) -> None:
        """A member of the owner's team who is removed."""
        fields = {"idempotency-key": f"member-{self.seed}-{next(self.numbers)}"}
        grant = {"email": "stranger@demo.test", "role": "viewer", "allProperties": True}
        made = await self.insist("grant", "POST", "/api/team", (201,), body=grant, fields=fields)
        if made is None:
            return
        path = f"/api/properties/{self.caller.properties['owner'][SHARED]}/segments"

        async def read(**facts) -> None:
            await self.caller.send("member", "GET", path, person="stranger", **facts)

        await self._withdrawn(
            "member", dice, read, lambda: self.insist("withdraw", "DELETE", f"/api/team/{made.json()['data']['id']}", (204, 404))
        )
