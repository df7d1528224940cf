"""Stands in front of the simulated search engine: records every query that starts, and makes the engine's faults."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from urllib.parse import unquote

from history import History
from wire import MOST_HEAD, Broken, Head, Unreached, exchange, read_body, read_head, written

TOO_MANY = {
    "error": {
        "code": 429,
        "message": "Search Analytics QPS quota exceeded.",
        "errors": [{"message": "Search Analytics QPS quota exceeded.", "domain": "usageLimits", "reason": "rateLimitExceeded"}],
        "status": "RESOURCE_EXHAUSTED",
    }
}


class Engine:
    """The ways of all replicas to the simulator, a port for each, so that it is known who asks."""

    def __init__(self, simulator: tuple[str, int], history: History) -> None:
        self.simulator = simulator
        self.history = history
        self.ports: dict[str, int] = {}
        self.servers: list[asyncio.Server] = []
        self.writers: dict[str, set[asyncio.StreamWriter]] = {}
        # Faults: replicas that do not reach the engine, the status of every query, and the seconds before an answer, by site.
        self.cut: set[str] = set()
        self.refuses = False
        self.stalls = asyncio.Event()
        self.stalls.set()
        self.delays: dict[str, float] = {}
        # Called with the replica and the site when a query starts.
        self.on_start: Callable[[str, str], None] = lambda replica, site: None

    async def open(self, replica: str) -> None:
        self.writers[replica] = set()
        server = await asyncio.start_server(lambda r, w: self._serve(replica, r, w), "127.0.0.1", 0, limit=MOST_HEAD)
        self.servers.append(server)
        self.ports[replica] = server.sockets[0].getsockname()[1]

    def part(self, replica: str) -> None:
        """Cuts a replica off."""
        self.cut.add(replica)
        for writer in self.writers[replica]:
            writer.transport.abort()

    async def _serve(self, replica: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers[replica].add(writer)
        try:
            while replica not in self.cut:
                head = await read_head(reader)
                if head is None:
                    break
                body = await read_body(reader, head, until_end=False)
                await self._answer(replica, head, body, reader, writer)
        except (OSError, EOFError):
            pass
        finally:
            self.writers[replica].discard(writer)
            writer.transport.abort()

    async def _answer(
        self, replica: str, head: Head, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        path = head.first.split(" ")[1]
        if not path.endswith("/searchAnalytics/query"):
            await self._pass(head, body, writer)
            return
        site = unquote(path.split("/sites/")[1].split("/")[0])
        question = json.dumps(json.loads(body), sort_keys=True)
        key = hashlib.sha256(f"{site} {question}".encode()).hexdigest()[:16]
        record = self.history.open("upstream", replica=replica, site=site, key=key, question=question, good=False)
        self.on_start(replica, site)
        good = False
        try:
            if self.refuses:
                writer.write(written("HTTP/1.1 429 Too Many Requests", {"content-type": "application/json"}, json.dumps(TOO_MANY).encode()))
                await writer.drain()
                return
            await asyncio.sleep(self.delays.get(site, 0))
            await self.stalls.wait()
            good = await self._pass(head, body, writer) == 200 and not reader.at_eof() and not writer.is_closing()
        finally:
            self.history.close(record, good=good)

    async def _pass(self, head: Head, body: bytes, writer: asyncio.StreamWriter) -> int:
        """Asks the simulator, and passes its answer on."""
        fields = {name: value for name, value in head.fields.items() if name not in ("content-length", "transfer-encoding")}
        message = written(head.first, {**fields, "connection": "close"}, body)
        try:
            answer = await exchange(self.simulator, message, head.first.split(" ")[0], 60)
        except (Unreached, Broken) as error:
            raise OSError(str(error)) from error
        skipped = ("content-length", "transfer-encoding", "connection")
        fields = {name: value for name, value in answer.fields.items() if name not in skipped}
        writer.write(written(f"HTTP/1.1 {answer.status} Answer", fields, answer.body))
        await writer.drain()
        return answer.status

    def close(self) -> None:
        for server in self.servers:
            server.close()
