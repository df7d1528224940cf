"""HTTP/1.1 as far as the soak needs it: one request on each connection, and heads and bodies as bytes."""

import asyncio
import json
from dataclasses import dataclass, field

MOST_HEAD = 64 * 1024


class Unreached(Exception):
    """Nothing was sent: nobody accepts connections there."""


class Broken(Exception):
    """The connection ended, or nothing came in time, after the request was sent. Its effect is unknown."""


@dataclass
class Head:
    """The first line and the fields of a message, with names in small letters."""

    first: str
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return int(self.first.split(" ", 2)[1])


@dataclass
class Answer:
    """An answer that was read to its end."""

    status: int
    fields: dict[str, str]
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body) if self.body else {}


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next head, or None at the end of the connection."""
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = text.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Head(first, {name.strip().lower(): value.strip() for name, _, value in pairs})


async def read_body(reader: asyncio.StreamReader, head: Head, *, until_end: bool) -> bytes:
    """The body after a head. Without a length it reaches to the end of the connection if `until_end`, otherwise it is empty."""
    if head.fields.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            parts.append(await reader.readexactly(size))
            await reader.readexactly(2)
        while (await reader.readline()).strip():
            pass
        return b"".join(parts)
    if "content-length" in head.fields:
        return await reader.readexactly(int(head.fields["content-length"]))
    return await reader.read() if until_end else b""


def written(first: str, fields: dict[str, str], body: bytes) -> bytes:
    """A message with the length of its body."""
    lines = [first, *(f"{name}: {value}" for name, value in fields.items()), f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


async def exchange(address: tuple[str, int], message: bytes, method: str, seconds: float) -> Answer:
    """Sends one message on a connection of its own, and reads the answer."""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection(*address, limit=MOST_HEAD), seconds)
    except (OSError, TimeoutError) as error:
        raise Unreached(str(error)) from error
    try:
        async with asyncio.timeout(seconds):
            writer.write(message)
            await writer.drain()
            head = await read_head(reader)
            if head is None:
                raise Broken("the connection ended before the answer")
            has_body = method != "HEAD" and head.status not in (204, 304)
            body = await read_body(reader, head, until_end=True) if has_body else b""
            return Answer(head.status, head.fields, body)
    except (OSError, EOFError, TimeoutError, ValueError) as error:
        raise Broken(repr(error)) from error
    finally:
        writer.close()


async def ask(
    address: tuple[str, int], method: str, path: str, fields: dict[str, str], body: bytes = b"", seconds: float = 40
) -> Answer:
    """Sends a request, and reads the answer."""
    message = written(f"{method} {path} HTTP/1.1", {"connection": "close", **fields}, body)
    return await exchange(address, message, method, seconds)
