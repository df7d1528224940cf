"""A round robin over replicas that asks each for its health, as a balancer does."""

import asyncio
from dataclasses import dataclass

from wire import MOST_HEAD, Answer, Broken, Unreached, ask, exchange, read_body, read_head, written

# The pause between two questions for health, and the time limit of one.
POLL_SECONDS = 0.5
HEALTH_SECONDS = 2
# The time limit of a request. A replica takes 55 s at most, and may be stopped meanwhile.
REQUEST_SECONDS = 70

OWN = ("content-length", "transfer-encoding", "connection")


@dataclass
class Backend:
    """A replica as the balancer sees it."""

    name: str
    address: tuple[str, int]
    is_well: bool = False


class Balancer:
    """Listens on a port of its own. An answer says in `x-replica` who gave it."""

    def __init__(self) -> None:
        self.backends: dict[str, Backend] = {}
        self.turn = 0
        self.port = 0
        self.polls: dict[str, asyncio.Task] = {}

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MOST_HEAD, backlog=1000)
        self.port = self.server.sockets[0].getsockname()[1]

    def place(self, name: str, address: tuple[str, int]) -> None:
        """Adds a replica, or gives it another address. It gets requests once it is well."""
        if name in self.polls:
            self.polls[name].cancel()
        self.backends[name] = Backend(name, address)
        self.polls[name] = asyncio.ensure_future(self._poll(self.backends[name]))

    async def _poll(self, backend: Backend) -> None:
        while True:
            try:
                answer = await ask(backend.address, "GET", "/api/health", {"host": "balancer"}, seconds=HEALTH_SECONDS)
                backend.is_well = answer.status == 200
            except (Unreached, Broken):
                backend.is_well = False
            await asyncio.sleep(POLL_SECONDS)

    def is_well(self, name: str) -> bool:
        return self.backends[name].is_well

    def order(self) -> list[Backend]:
        """The replicas to try, the next one first: those that are well, or all if none is."""
        backends = list(self.backends.values())
        well = [backend for backend in backends if backend.is_well] or backends
        self.turn += 1
        start = self.turn % len(well)
        return well[start:] + well[:start]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await read_head(reader):
                body = await read_body(reader, head, until_end=False)
                method = head.first.split(" ")[0]
                fields = {name: value for name, value in head.fields.items() if name not in OWN}
                peer = writer.get_extra_info("peername")[0]
                fields["x-forwarded-for"] = peer
                message = written(head.first, {**fields, "connection": "close"}, body)
                name, answer = await self._forward(message, method)
                fields = {name: value for name, value in answer.fields.items() if name not in OWN}
                fields["x-replica"] = name
                is_last = head.fields.get("connection", "").lower() == "close"
                fields["connection"] = "close" if is_last else "keep-alive"
                writer.write(written(f"HTTP/1.1 {answer.status} Answer", fields, answer.body))
                await writer.drain()
                if is_last:
                    break
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    async def _forward(self, message: bytes, method: str) -> tuple[str, Answer]:
        """Asks one replica after another until one accepts the connection. What was sent is not sent again."""
        name = "none"
        for backend in self.order():
            name = backend.name
            try:
                return name, await exchange(backend.address, message, method, REQUEST_SECONDS)
            except Unreached:
                backend.is_well = False
            except Broken as error:
                return name, Answer(502, {"x-broken": repr(error).replace("\n", " ")}, b"")
        return name, Answer(502, {"x-broken": "no replica accepts connections"}, b"")

    def close(self) -> None:
        for poll in self.polls.values():
            poll.cancel()
        self.server.close()
