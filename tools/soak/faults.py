"""The faults: one every twenty seconds, in an order that the seed decides."""

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable

from history import History, now
from load import CROWDED, Load
from relay import Way
from world import PATIENCE, World

EVERY_SECONDS = 20

# Every run has these, in any order.
CORE = ("kill", "postgres", "redis-kill", "redis-pause", "rolling")
ALL = (*CORE, "pause", "redis-flush", "cut-redis", "cut-postgres", "cut-engine", "refuse", "stall")

# How long a pause, a cut, or a stall lasts.
LASTS = 6
# How often Redis pauses, how long at least and at most, and how long cold questions have run by then.
PAUSES = 6
PAUSE_MS = (300, 600)
COLD_SECONDS = 0.1

# How long the engine refuses. Each second of it halves the pace, which takes a minute to grow again.
REFUSES = 1.5


def schedule(seed: int, count: int) -> list[str]:
    """As many faults, but at least the core. Each kind is as often as any other, and the core is first."""
    dice = random.Random(f"{seed} faults")
    rest = [kind for kind in ALL if kind not in CORE]
    kinds = dice.sample(CORE, len(CORE)) + dice.sample(rest, len(rest))
    while len(kinds) < count:
        kinds += dice.sample(ALL, len(ALL))
    return kinds[: max(count, len(CORE))]


class Faults:
    """Makes faults, undoes them, and records both."""

    def __init__(self, world: World, history: History, load: Load, seed: int) -> None:
        self.world = world
        self.history = history
        self.load = load
        self.dice = random.Random(f"{seed} victims")

    async def strike(self, kind: str) -> None:
        """Makes one fault, undoes it, and waits until every replica is well again."""
        victim = self.dice.choice(sorted(self.world.replicas))
        work: dict[str, Callable[[dict, str], Awaitable[None]]] = {
            "kill": self._kill,
            "pause": self._pause,
            "postgres": self._postgres,
            "redis-kill": self._redis_kill,
            "redis-pause": self._redis_pause,
            "redis-flush": self._redis_flush,
            "cut-redis": self._cut_redis,
            "cut-postgres": self._cut_postgres,
            "cut-engine": self._cut_engine,
            "refuse": self._refuse,
            "stall": self._stall,
            "rolling": self._rolling,
        }
        is_of_one = kind in ("kill", "pause", "cut-redis", "cut-postgres", "cut-engine")
        record = self.history.open("fault", fault=kind, replica=victim if is_of_one else None)
        await work[kind](record, victim)
        record["undone"] = round(now() - self.history.begun, 4)
        await self.world.settled()
        self.history.close(record)

    async def _kill(self, record: dict, victim: str) -> None:
        """Kills the replica that reads for a crowd, while it reads."""
        asked: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def on_start(replica: str, site: str) -> None:
            if site == CROWDED and not asked.done():
                asked.set_result(replica)

        crowd = self.load.spawn(self.load.crowd(12, "owner killed"))
        await asyncio.sleep(0.05)
        self.world.engine.on_start = on_start
        try:
            victim = await asyncio.wait_for(asked, 10)
        except TimeoutError:
            pass
        self.world.engine.on_start = lambda replica, site: None
        replica = self.world.replicas[victim]
        record["replica"], record["killed"] = victim, round(now() - self.history.begun, 4)
        replica.program.signal(signal.SIGKILL)
        await replica.program.ended()
        await asyncio.sleep(2)
        await replica.start()
        await crowd

    async def _pause(self, record: dict, victim: str) -> None:
        program = self.world.replicas[victim].program
        program.signal(signal.SIGSTOP)
        await asyncio.sleep(LASTS)
        program.signal(signal.SIGCONT)

    async def _postgres(self, record: dict, victim: str) -> None:
        await self.world.postgres.stop()
        await asyncio.sleep(3)
        await self.world.postgres.start()
        begun = now()
        async with asyncio.timeout(PATIENCE):
            while not all([(await replica.health())[0] == 200 for replica in self.world.replicas.values()]):
                await asyncio.sleep(0.1)
        record["ready"] = round(now() - begun, 2)

    async def _redis_kill(self, record: dict, victim: str) -> None:
        await self.world.redis.kill()
        await asyncio.sleep(4)
        await self.world.redis.start()

    async def _redis_pause(self, record: dict, victim: str) -> None:
        """Redis answers nobody for half a second while replicas read what nobody has."""
        for _ in range(PAUSES):
            cold = [self.load.spawn(self.load.cold(self.dice)) for _ in range(4)]
            await asyncio.sleep(COLD_SECONDS)
            await self.world.redis.say(f"CLIENT PAUSE {self.dice.randint(*PAUSE_MS)} ALL")
            await asyncio.gather(*cold)

    async def _redis_flush(self, record: dict, victim: str) -> None:
        await self.world.redis.say("FLUSHALL")

    async def _cut_redis(self, record: dict, victim: str) -> None:
        relay = self.world.replicas[victim].redis
        relay.set(self.dice.choice((Way.CUT, Way.SILENT, Way.DEAF)))
        record["way"] = relay.way.value
        await asyncio.sleep(LASTS)
        relay.set(Way.OPEN)

    async def _cut_postgres(self, record: dict, victim: str) -> None:
        relay = self.world.replicas[victim].postgres
        relay.set(self.dice.choice((Way.CUT, Way.SILENT, Way.DEAF)))
        record["way"] = relay.way.value
        await asyncio.sleep(LASTS)
        relay.set(Way.OPEN)

    async def _cut_engine(self, record: dict, victim: str) -> None:
        self.world.engine.part(victim)
        await asyncio.sleep(LASTS)
        self.world.engine.cut.discard(victim)

    async def _refuse(self, record: dict, victim: str) -> None:
        self.world.engine.refuses = True
        await asyncio.sleep(REFUSES)
        self.world.engine.refuses = False

    async def _stall(self, record: dict, victim: str) -> None:
        self.world.engine.stalls.clear()
        await asyncio.sleep(LASTS)
        self.world.engine.stalls.set()

    async def _rolling(self, record: dict, victim: str) -> None:
        """Replaces one replica after another by the other version."""
        self.load.is_rolling.set()
        for replica in self.world.replicas.values():
            replica.program.signal(signal.SIGTERM)
            await replica.program.ended()
            replica.version = 1 - replica.version
            await replica.start()
            async with asyncio.timeout(PATIENCE):
                while not await replica.is_settled():
                    await asyncio.sleep(0.2)
        record["version"] = replica.version
        self.load.is_rolling.clear()
