"""A service on SQLite whose disk fills up twice. It runs beside the replicas and shares nothing with them."""

import asyncio
import json
import shutil
from pathlib import Path

from history import History, now
from servers import Failed, run
from wire import Answer, ask
from world import PATIENCE, Program, endpoint

# The size of its disk, in megabytes.
SIZE = 24
# Writers at once. Together they outgrow the write-ahead log that the file system holds already.
WRITERS = 4
# How often the disk fills, and the refused writes after which there is room again.
TIMES = 2
REFUSED = 40


class Disk:
    """The service, its small file system, and those who write."""

    def __init__(self, folder: Path, binary: str, history: History) -> None:
        self.folder = folder / "disk"
        self.ballast = self.folder / "ballast"
        self.history = history
        settings = {
            "SIGHTLINE_LISTEN": "127.0.0.1:0",
            "SIGHTLINE_DATA_DIR": str(self.folder / "data"),
            "SIGHTLINE_RATE_LIMIT__ENABLED": "false",
        }
        self.program = Program(binary, folder, folder / "disk.log", settings)
        self.refused = 0
        self.ending = asyncio.Event()
        self.address = ("127.0.0.1", 0)
        self.fields: dict[str, str] = {}
        self.paths: list[str] = []

    async def start(self) -> None:
        self.folder.mkdir()
        try:
            await run("mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(self.folder))
        except Failed as error:
            raise Failed(f"the soak mounts a small file system, which needs root: {error}") from error
        await self._serve()

    async def _serve(self) -> None:
        await self.program.start("serve")
        url = await self.program.address()
        self.address = endpoint(url)
        environment = {**self.program.environment, "SIGHTLINE_BASE_URL": url}
        token = (await run(self.program.binary, "login", "--as", "owner", environment=environment, folder=self.program.folder)).strip()
        self.fields = {"host": url.removeprefix("http://"), "authorization": f"Bearer {token}", "content-type": "application/json"}
        properties = (await self._ask("GET", "/api/properties?headline=false")).json()["data"]
        self.paths = [f"/api/properties/{entry['id']}/annotations" for entry in properties]

    async def _ask(self, method: str, path: str, body: dict | None = None, **fields: str) -> Answer:
        sent = {**self.fields, **{name.replace("_", "-"): value for name, value in fields.items()}}
        return await ask(self.address, method, path, sent, json.dumps(body).encode() if body else b"", seconds=60)

    async def run(self) -> None:
        """Writes while the disk fills twice, and then looks what another process finds."""
        writers = [asyncio.ensure_future(self._write(number)) for number in range(WRITERS)]
        for _ in range(TIMES):
            await asyncio.sleep(3)
            record = self.history.open("disk-full", health=[])
            self._fill()
            first = self.refused
            async with asyncio.timeout(PATIENCE):
                while self.refused < first + REFUSED:
                    await asyncio.sleep(0.1)
            reading = await self._ask("GET", self.paths[0])
            health = (await self._ask("GET", "/api/health")).json()["data"]
            parts = {part["name"]: part["status"] for part in health["dependencies"]}
            self.ballast.unlink()
            self.history.close(record, reads=reading.status, database=parts["database"], refused=self.refused - first)
        await asyncio.sleep(3)
        self.ending.set()
        await asyncio.gather(*writers)
        await self._look()

    def _fill(self) -> None:
        with open(self.ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    async def _write(self, number: int) -> None:
        """Writes one record after another. Each is tried until it is acknowledged, with one key."""
        path, count = self.paths[number % len(self.paths)], 0
        while not self.ending.is_set():
            count += 1
            text = f"disk {number} {count} " + "x" * 500
            record = self.history.open("disk-write", text=text, acknowledged=False, statuses=[])
            while not self.ending.is_set():
                answer = await self._ask("POST", path, {"date": "2026-01-05", "text": text}, idempotency_key=f"{number}-{count}")
                record["statuses"].append([answer.status, answer.fields.get("retry-after")])
                if answer.status == 201:
                    break
                self.refused += 1
                await asyncio.sleep(0.02)
            self.history.close(record, acknowledged=bool(record["statuses"]) and record["statuses"][-1][0] == 201)

    async def _look(self) -> None:
        """Kills the service, starts it again, and records what is there."""
        await self.program.stop()
        await self._serve()
        for path in self.paths:
            offset, more = 0, True
            while more:
                answer = await self._ask("GET", f"{path}?limit=500&offset={offset}")
                for note in answer.json()["data"]:
                    self.history.add("disk-present", now(), text=note["text"])
                offset, more = offset + 500, answer.json()["meta"]["hasMore"]

    async def stop(self) -> None:
        await self.program.stop()
        if self.folder.is_mount():
            await run("umount", "--lazy", str(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)


