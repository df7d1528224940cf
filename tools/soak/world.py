"""The world of a run: the servers, three replicas behind relays and a balancer, the simulated search engine, and the oracle."""

import asyncio
import os
import secrets
import signal
import socket
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from balancer import Balancer
from engine import Engine
from history import History
from relay import Relay
from servers import Failed, Postgres, Redis, run
from wire import Broken, Unreached, ask

NAMES = ("a", "b", "c")

# The pace towards the search engine, as it is by default: at most BUCKET + 60 * REFILL in a minute, for each site and account.
BUCKET = 60
REFILL = 18
# The lifetime of readings, so that several fit into a run.
TTL_SECONDS = 60
# The rate of the person who asks too often, whose plan is free.
RATE_PER_MINUTE = 60
RATE_BURST = 30

# Longer than any start or stop on a busy machine.
PATIENCE = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A running `sightline`, its log, and its address."""

    def __init__(self, binary: str, folder: Path, log: Path, settings: dict[str, str]) -> None:
        self.binary = binary
        self.folder = folder
        self.log = log
        self.settings = settings
        self.process: asyncio.subprocess.Process | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "RUST_LOG": "warn", **self.settings}

    async def start(self, *arguments: str) -> None:
        with open(self.log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                self.binary, *arguments, cwd=self.folder, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=log
            )

    async def address(self) -> str:
        """What it says that it listens on."""
        assert self.process is not None and self.process.stdout is not None
        line = (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).decode()
        if not line.startswith("listening on "):
            raise Failed(f"{self.log}: {self.log.read_text()[-2000:]}")
        return line.removeprefix("listening on ").strip()

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self) -> None:
        assert self.process is not None
        await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def stop(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            await self.ended()


def endpoint(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    return host, int(port)


class Replica:
    """One replica and its relays."""

    def __init__(self, name: str, world: "World") -> None:
        self.name = name
        self.world = world
        self.postgres = Relay(world.postgres.socket)
        self.redis = Relay(world.redis.socket)
        self.version = 0
        self.program: Program | None = None
        self.address = ("127.0.0.1", 0)
        self.metrics = ("127.0.0.1", 0)

    async def prepare(self) -> None:
        await self.postgres.start()
        await self.redis.start()
        await self.world.engine.open(self.name)

    async def start(self) -> None:
        """Starts it at ports of the kernel's choice, and waits until it answers."""
        for _ in range(5):
            self.address, self.metrics = ("127.0.0.1", free_port()), ("127.0.0.1", free_port())
            world = self.world
            settings = world.settings_of(self)
            self.program = Program(world.binaries[self.version], world.folder, world.folder / f"{self.name}.log", settings)
            await self.program.start("serve")
            try:
                await self.program.address()
            except Failed:
                # Somebody else took a port meanwhile.
                if "cannot be bound" in self.program.log.read_text():
                    continue
                raise
            world.balancer.place(self.name, self.address)
            return
        raise Failed(f"{self.name} finds no free port")

    async def health(self) -> tuple[int, dict[str, str]]:
        """The status of its health, and that of each dependency. Zero if it does not answer."""
        try:
            answer = await ask(self.address, "GET", "/api/health", {"host": "soak"}, seconds=5)
        except (Unreached, Broken):
            return 0, {}
        parts = answer.json().get("data", {}).get("dependencies", [])
        return answer.status, {part["name"]: part["status"] for part in parts}

    async def is_settled(self) -> bool:
        """Whether it is well, gets requests, and shares with the others."""
        status, parts = await self.health()
        is_well = status == 200 and parts.get("redis") == "ok" and self.world.balancer.is_well(self.name)
        return is_well and set((await self._metrics("sightline_redis_up")).values()) == {1}

    async def calls_alone(self) -> dict[str, int]:
        """The calls of Redis without an answer, by link and outcome. For each of them it decided by itself."""
        calls = await self._metrics("sightline_redis_calls_total")
        return {name: count for name, count in calls.items() if 'outcome="answered"' not in name}

    async def _metrics(self, name: str) -> dict[str, int]:
        """The values of a metric by its labels. None if it does not answer."""
        try:
            answer = await ask(self.metrics, "GET", "/metrics", {"host": "soak"}, seconds=5)
        except (Unreached, Broken):
            return {}
        lines = (line.rsplit(" ", 1) for line in answer.body.decode().splitlines() if line.startswith(f"{name}{{"))
        return {labels: int(float(value)) for labels, value in lines}


class World:
    """Everything that runs."""

    def __init__(self, folder: Path, binaries: list[str], history: History) -> None:
        self.folder = folder
        self.binaries = binaries
        self.history = history
        self.key = secrets.token_hex(32)
        # The day is fixed, so that the simulator and the oracle agree, and midnight changes nothing.
        self.today = datetime.now(ZoneInfo("America/Los_Angeles")).date()
        self.postgres = Postgres(folder)
        self.redis = Redis(folder)
        self.balancer = Balancer()
        self.replicas: dict[str, Replica] = {}

    def day(self, back: int) -> str:
        return str(self.today - timedelta(days=back))

    async def start(self) -> None:
        await asyncio.gather(self.postgres.make(), self.redis.make())
        await asyncio.gather(self.postgres.start(), self.redis.start(), self.balancer.start())
        self.simulator = Program(self.binaries[0], self.folder, self.folder / "simulator.log", {})
        await self.simulator.start("simulator", "--listen", "127.0.0.1:0", "--today", str(self.today))
        self.engine = Engine(endpoint(await self.simulator.address()), self.history)
        await self._start_oracle()
        self.replicas = {name: Replica(name, self) for name in NAMES}
        for replica in self.replicas.values():
            await replica.prepare()
            await replica.start()

    async def _start_oracle(self) -> None:
        """A service of one process that nothing disturbs: SQLite, no Redis, and a simulator of its own."""
        folder = self.folder / "oracle"
        folder.mkdir()
        settings = {
            "SIGHTLINE_LISTEN": "127.0.0.1:0",
            "SIGHTLINE_SIMULATOR__TODAY": str(self.today),
            "SIGHTLINE_RATE_LIMIT__ENABLED": "false",
            "SIGHTLINE_SEARCH_ENGINE__BUCKET": "1000000",
            "SIGHTLINE_SEARCH_ENGINE__REFILL_PER_SECOND": "1000000",
            "SIGHTLINE_SEARCH_ENGINE__QUOTA__PER_MINUTE": "1000000",
        }
        self.oracle = Program(self.binaries[0], folder, self.folder / "oracle.log", settings)
        await self.oracle.start("serve")
        self.oracle_url = await self.oracle.address()

    def settings_of(self, replica: Replica) -> dict[str, str]:
        engine = f"http://127.0.0.1:{self.engine.ports[replica.name]}"
        return {
            "SIGHTLINE_LISTEN": f"127.0.0.1:{replica.address[1]}",
            "SIGHTLINE_METRICS__LISTEN": f"127.0.0.1:{replica.metrics[1]}",
            "SIGHTLINE_BASE_URL": self.url,
            "SIGHTLINE_DATA_DIR": str(self.folder / f"data-{replica.name}"),
            "SIGHTLINE_SECRETS__KEY": self.key,
            "SIGHTLINE_DATABASE__URL": f"postgres://postgres@127.0.0.1:{replica.postgres.port}/postgres?sslmode=disable",
            "SIGHTLINE_REDIS__URL": f"redis://127.0.0.1:{replica.redis.port}",
            "SIGHTLINE_IDENTITY__DEMO_SIGN_IN": "true",
            "SIGHTLINE_SEARCH_ENGINE__API_URL": engine,
            "SIGHTLINE_SEARCH_ENGINE__AUTHORIZE_URL": f"{engine}/o/oauth2/v2/auth",
            "SIGHTLINE_SEARCH_ENGINE__TOKEN_URL": f"{engine}/token",
            "SIGHTLINE_SEARCH_ENGINE__REVOKE_URL": f"{engine}/revoke",
            "SIGHTLINE_SEARCH_ENGINE__USERINFO_URL": f"{engine}/userinfo",
            "SIGHTLINE_SEARCH_ENGINE__CLIENT_ID": "sightline",
            "SIGHTLINE_SEARCH_ENGINE__CLIENT_SECRET": "simulated",
            "SIGHTLINE_SEARCH_ENGINE__BUCKET": str(BUCKET),
            "SIGHTLINE_SEARCH_ENGINE__REFILL_PER_SECOND": str(REFILL),
            "SIGHTLINE_CACHE__TTL": f"{TTL_SECONDS}s",
            "SIGHTLINE_SHUTDOWN__DELAY": "3s",
            "SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES": "127.0.0.1",
            "SIGHTLINE_RATE_LIMIT__PER_MINUTE": "100000",
            "SIGHTLINE_RATE_LIMIT__BURST": "100000",
            "SIGHTLINE_PLANS__FREE__PER_MINUTE": str(RATE_PER_MINUTE),
            "SIGHTLINE_PLANS__FREE__BURST": str(RATE_BURST),
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.balancer.port}"

    @property
    def front(self) -> tuple[str, int]:
        return "127.0.0.1", self.balancer.port

    async def token(self, name: str, url: str | None = None) -> str:
        """Signs a demo person in."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SIGHTLINE_BASE_URL": url or self.url}
        said = await run(self.binaries[0], "login", "--as", name, environment=environment, folder=self.folder)
        return said.strip()

    async def settled(self) -> None:
        """Waits until every replica is well, gets requests and reaches Redis."""
        async with asyncio.timeout(PATIENCE):
            while not all(await asyncio.gather(*(replica.is_settled() for replica in self.replicas.values()))):
                await asyncio.sleep(0.2)

    async def stop(self) -> None:
        programs = [replica.program for replica in self.replicas.values()]
        programs += [getattr(self, "simulator", None), getattr(self, "oracle", None)]
        for program in filter(None, programs):
            await program.stop()
        if hasattr(self, "engine"):
            self.engine.close()
        if self.redis.process is not None:
            await self.redis.kill()
        if (self.postgres.folder / "data/postmaster.pid").exists():
            await self.postgres.stop()
