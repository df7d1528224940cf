"""A relay in front of a server, which can be cut off, made silent, or slowed down."""

import asyncio
from enum import Enum


class Way(Enum):
    """The state of a relay."""

    OPEN = "open"
    # Connections end, and new ones end at once.
    CUT = "cut"
    # Nothing passes in either direction, and nobody is told.
    SILENT = "silent"
    # What the server says does not arrive.
    DEAF = "deaf"


class _Pipe(asyncio.Protocol):
    """One end of a connection. What it receives goes to the other end."""

    def __init__(self, relay: "Relay", is_server: bool) -> None:
        self.relay = relay
        self.is_server = is_server
        self.transport: asyncio.Transport | None = None
        self.other: _Pipe | None = None
        self.early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.relay.pipes.add(self)
        if not self.is_server:
            self.relay.spawn(self._connect())
        self.relay.settle(self)

    async def _connect(self) -> None:
        if self.relay.way is Way.CUT:
            self.close()
            return
        server = _Pipe(self.relay, True)
        try:
            loop = asyncio.get_running_loop()
            await loop.create_unix_connection(lambda: server, self.relay.path)
        except OSError:
            self.close()
            return
        self.other, server.other = server, self
        if self.transport is None or self.transport.is_closing():
            server.close()
            return
        for data in self.early:
            self.data_received(data)
        self.early = []

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self.early.append(data)
        elif self.relay.seconds:
            asyncio.get_running_loop().call_later(self.relay.seconds, self.other.send, data)
        else:
            self.other.send(data)

    def send(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.relay.pipes.discard(self)
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class Relay:
    """A relay from a port of its own to a server's socket."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.way = Way.OPEN
        # The delay of everything that passes, in each direction.
        self.seconds = 0.0
        self.pipes: set[_Pipe] = set()
        self.tasks: set[asyncio.Task] = set()
        self.port = 0

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: _Pipe(self, False), "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    def spawn(self, work) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def set(self, way: Way) -> None:
        self.way = way
        for pipe in list(self.pipes):
            self.settle(pipe)

    def settle(self, pipe: _Pipe) -> None:
        """Applies the state to one end of a connection."""
        if self.way is Way.CUT:
            pipe.close()
        elif self.way is Way.SILENT or (self.way is Way.DEAF and pipe.is_server):
            pipe.transport.pause_reading()
        elif not pipe.transport.is_closing():
            pipe.transport.resume_reading()
