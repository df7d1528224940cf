"""HTTP/1.1 as a proxy before the service speaks it: a pool of connections, and one request at a time on each."""

import asyncio
import time
import zlib
from dataclasses import dataclass

MOST_HEAD = 64 * 1024


@dataclass
class Page:
    """An answer that was read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    def cookies(self) -> str:
        """The cookies that it sets, as a browser sends them."""
        return "; ".join(line.split(";")[0] for line in self.headers.get("set-cookie", "").split("\n"))


class Proxy:
    """The connections to one service. One that is idle is used again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.host, _, port = url.removeprefix("http://").partition(":")
        self.port = int(port)
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, method: str, path: str, headers: dict[str, str]) -> Page:
        """Sends a request without a body, once more if the service closed an idle connection meanwhile."""
        named = {"host": f"{self.host}:{self.port}", "accept-encoding": "gzip", "content-length": "0", **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        message = "\r\n".join(lines).encode()
        begun = time.monotonic()
        while self.idle:
            kept = self.idle.pop()
            if not kept[0].at_eof():
                try:
                    return await self._exchange(kept, message, begun)
                except (ConnectionError, EOFError):
                    pass
        return await self._exchange(await asyncio.open_connection(self.host, self.port, limit=MOST_HEAD), message, begun)

    async def _exchange(
        self, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], message: bytes, begun: float
    ) -> Page:
        reader, writer = connection
        try:
            writer.write(message)
            status, headers = await read_head(reader)
            body = await read_body(reader, status, headers)
        except BaseException:
            writer.close()
            raise
        seconds = time.monotonic() - begun
        if headers.get("connection") == "close":
            writer.close()
        else:
            self.idle.append(connection)
        if headers.get("content-encoding") == "gzip":
            body = zlib.decompress(body, wbits=31)
        return Page(status, headers, body, seconds)

    def close(self) -> None:
        for _, writer in self.idle:
            writer.close()
        self.idle.clear()


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    return int(first.split(" ")[1]), headers


async def read_body(reader: asyncio.StreamReader, status: int, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") == "chunked":
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readline()
        return b"".join(parts)
    return await reader.readexactly(0 if status in (204, 304) else int(headers.get("content-length", 0)))
