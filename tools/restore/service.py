"""What the drill starts: programs of Sightline, and a balancer that leads to one service after another."""

import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

# Seconds after which a program that says nothing counts as broken.
PATIENCE = 120


class Refused(Exception):
    """A program that ended before it accepted requests. Its text is what it said."""


class Program:
    """A running program of Sightline in a folder of its own, with no settings but these."""

    def __init__(self, server: str, folder: Path, arguments: list[str], settings: dict[str, str], ready: str) -> None:
        folder.mkdir(exist_ok=True)
        named = {f"SIGHTLINE_{name}": value for name, value in settings.items()}
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "RUST_LOG": "info", "SIGHTLINE_LOG__FORMAT": "json", **named}
        self.said = folder / "said"
        with self.said.open("w") as said:
            self.process = subprocess.Popen([server, *arguments], cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
        self.found = self._await(re.compile(ready, re.MULTILINE))

    def _await(self, ready: re.Pattern[str]) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            if found := ready.search(self.said.read_text()):
                return found[1]
            if ended:
                raise Refused(self.said.read_text())
            time.sleep(0.05)
        self.stop()
        raise TimeoutError(self.said.read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def simulator(server: str, folder: Path) -> Program:
    """The search engine. Its address is `found`."""
    return Program(server, folder, ["simulator", "--listen", "127.0.0.1:0"], {}, r"^listening on (\S+)$")


def service(server: str, folder: Path, settings: dict[str, str]) -> Program:
    """A service, whose port is `found`: the address that it prints is the balancer's."""
    return Program(server, folder, ["serve"], {"LISTEN": "127.0.0.1:0", **settings}, r'accepting requests.*"127\.0\.0\.1:(\d+)"')


class Balancer:
    """The address that people know, which leads to one service at a time."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.port = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, program: Program) -> None:
        self.port = int(program.found)

    def _accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.port))
        except OSError:
            client.close()
            return
        back = threading.Thread(target=copy, args=(far, client), daemon=True)
        back.start()
        copy(client, far)
        back.join()
        far.close()
        client.close()


def copy(here: socket.socket, there: socket.socket) -> None:
    """Passes on what one side sends, until it ends."""
    try:
        while piece := here.recv(65536):
            there.sendall(piece)
        there.shutdown(socket.SHUT_WR)
    except OSError:
        # One side has gone, so the other has nothing to wait for.
        for side in (here, there):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def lowered(headers: Message) -> dict[str, str]:
    """The headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


class Caller:
    """A person with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token

    def send(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """The status of an answer, its headers and its body."""
        data = None if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=named)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, lowered(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, lowered(error.headers), error.read()

    def data(self, method: str, path: str, body: object = None, **headers: str) -> object:
        """The data of an answer that must be a success."""
        status, _, text = self.send(method, path, body, **headers)
        if status >= 300:
            raise SystemExit(f"restore-drill: {method} {path} answers {status}: {text.decode()}")
        return json.loads(text)["data"] if text else None
