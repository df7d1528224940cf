"""The official SDK for Python, of either major: signs in as it does by itself, and calls tools.

usage: python.py ENDPOINT STORE CALLS, with a folder for what it is given, and a file with the calls. Prints the result of each call, or
what was raised, as a line of JSON.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken

ENDPOINT, CALLS = sys.argv[1], json.loads(pathlib.Path(sys.argv[3]).read_text())
STORE = pathlib.Path(sys.argv[2])
PERSON = pathlib.Path(__file__).with_name("person.py")
FIRST_MAJOR = importlib.metadata.version("mcp").startswith("1.")
if FIRST_MAJOR:
    import httpx as http
else:
    import httpx2 as http
    from mcp.shared.auth import AuthorizationCodeResult

METADATA = OAuthClientMetadata(
    client_name="Check of the Python SDK",
    redirect_uris=["http://127.0.0.1:9/callback"],
    grant_types=["authorization_code", "refresh_token"],
    response_types=["code"],
    token_endpoint_auth_method="none",
)


def load(name):
    file = STORE / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def save(name, value):
    # Another process reads the old text or the new one, never a part.
    new = STORE / f"{name}.{os.getpid()}"
    new.write_text(json.dumps(value))
    new.replace(STORE / f"{name}.json")


class Store:
    """Keeps in files what the SDK hands out, with the time at which the token expires."""

    async def get_tokens(self):
        saved = load("tokens")
        return saved and OAuthToken(**saved["tokens"])

    async def set_tokens(self, tokens):
        good_until = time.time() + tokens.expires_in
        save("tokens", {"tokens": tokens.model_dump(mode="json", exclude_none=True), "good_until": good_until})

    async def get_client_info(self):
        saved = load("client")
        return saved and OAuthClientInformationFull(**saved)

    async def set_client_info(self, client):
        save("client", client.model_dump(mode="json", exclude_none=True))


class Person:
    """Opens the addresses that the client would open in a browser."""

    async def open(self, address):
        command = [sys.executable, PERSON, address]
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=True)
        self.answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(done.stdout.strip()).query))

    async def come_back(self):
        given = {name: self.answer.get(name) for name in ("code", "state", "iss")}
        return (given["code"], given["state"]) if FIRST_MAJOR else AuthorizationCodeResult(**given)


def restore(sign_in):
    """Gives a new process the state of the SDK in a running one: it keeps neither the time of expiry nor the addresses of the issuer, so
    that programs that embed it do."""
    if saved := load("tokens"):
        sign_in.context.token_expiry_time = saved["good_until"]
        sign_in.context.oauth_metadata = OAuthMetadata(**load("issuer"))


async def main():
    person = Person()
    sign_in = OAuthClientProvider(ENDPOINT, METADATA, Store(), person.open, person.come_back)
    restore(sign_in)
    async with contextlib.AsyncExitStack() as stack:
        web = await stack.enter_async_context(http.AsyncClient(auth=sign_in, timeout=60))
        read, write, *_ = await stack.enter_async_context(streamable_http_client(ENDPOINT, http_client=web))
        session = await stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        save("issuer", sign_in.context.oauth_metadata.model_dump(mode="json", exclude_none=True))
        for call in CALLS:
            try:
                result = await session.call_tool(call["name"], call["arguments"])
                print(result.model_dump_json(by_alias=True, exclude_none=True), flush=True)
            except Exception as error:
                print(json.dumps({"thrown": repr(error)}), flush=True)


asyncio.run(main())
