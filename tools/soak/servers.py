"""A PostgreSQL cluster and a Redis server of the soak's own. They listen on sockets in a folder and on no port."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """A server or a program did not do what it was started for."""


async def run(*command: str, environment: dict[str, str] | None = None, folder: Path | None = None) -> str:
    """Runs a program to its end, and returns what it prints."""
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=folder, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    if process.returncode:
        raise Failed(f"{' '.join(command)}: {output}")
    return output


def programs_of_postgres() -> Path:
    """The folder with initdb and pg_ctl: the newest of Debian's, or that of pg_config."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    if shutil.which("pg_config"):
        folder = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        if Path(folder, "initdb").exists():
            return Path(folder)
    raise Failed("no PostgreSQL is installed: neither /usr/lib/postgresql/*/bin/initdb nor pg_config names one")


class Postgres:
    """A cluster in a folder. PostgreSQL refuses to run as root, so root runs it as the user postgres."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "postgres"
        self.programs = programs_of_postgres()
        self.socket = str(self.folder / ".s.PGSQL.5432")
        self.prefix: list[str] = []

    async def make(self) -> None:
        self.folder.mkdir()
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        await self._program("initdb", "--pgdata", str(self.folder / "data"), "--username", "postgres", "--auth", "trust", "--no-instructions")
        # A stop at once must lose nothing, so fsync stays on.
        settings = f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nmax_connections = 100\n"
        with open(self.folder / "data/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(settings)

    async def _program(self, name: str, *arguments: str) -> str:
        return await run(*self.prefix, str(self.programs / name), *arguments, folder=self.folder)

    async def start(self) -> None:
        log = str(self.folder / "log")
        await self._program("pg_ctl", "--pgdata", str(self.folder / "data"), "--log", log, "--wait", "--timeout", "120", "start")

    async def stop(self) -> None:
        """Stops it at once, as a crash would."""
        await self._program("pg_ctl", "--pgdata", str(self.folder / "data"), "--mode", "immediate", "--wait", "stop")


@dataclass
class Held:
    """A key of Redis, the milliseconds that it still lasts, -1 for ever, and its value as Redis stores it."""

    key: bytes
    lasts: int
    value: bytes | None


class Redis:
    """A server that writes nothing to the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "redis"
        self.socket = str(self.folder / "socket")
        self.process: asyncio.subprocess.Process | None = None

    async def make(self) -> None:
        self.folder.mkdir()

    async def start(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise Failed("no redis-server is installed")
        settings = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "no", "--rdbcompression", "no", "--dir", str(self.folder)]
        with open(self.folder / "log", "ab") as log:
            self.process = await asyncio.create_subprocess_exec(program, *settings, stdout=log, stderr=log)
        async with asyncio.timeout(60):
            while not await self._answers():
                await asyncio.sleep(0.05)

    async def _answers(self) -> bool:
        try:
            return await self.say("PING") == "+PONG"
        except OSError:
            return False

    async def say(self, command: str) -> str:
        """Sends a command, and returns the first line of the answer."""
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            writer.write(f"{command}\r\n".encode())
            return (await reader.readline()).decode().strip()
        finally:
            writer.close()

    async def contents(self) -> list[Held]:
        """All keys with their values."""
        reader, writer = await asyncio.open_unix_connection(self.socket)

        async def answer():
            line = (await reader.readline()).strip()
            kind, rest = line[:1], line[1:]
            if kind == b"-":
                raise Failed(rest.decode())
            if kind == b"$":
                return None if rest == b"-1" else (await reader.readexactly(int(rest) + 2))[:-2]
            if kind == b"*":
                return [await answer() for _ in range(int(rest))]
            return int(rest) if kind == b":" else rest

        async def ask(*words: bytes):
            writer.write(b"".join([b"*%d\r\n" % len(words), *(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)]))
            return await answer()

        try:
            held = [Held(key, await ask(b"PTTL", key), await ask(b"DUMP", key)) for key in await ask(b"KEYS", b"*")]
            return [entry for entry in held if entry.value is not None]
        finally:
            writer.close()

    async def kill(self) -> None:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()
