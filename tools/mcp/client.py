"""The official Python client of the Model Context Protocol: signs in as a client that its metadata document describes, and uses
everything that the server lists, in both generations of the protocol.

usage: client.py URL CERTIFICATE, with the address of the tool endpoint, and a certificate of 127.0.0.1 that the server trusts.
"""

import asyncio
import json
import pathlib
import re
import subprocess
import sys
import traceback
import urllib.parse

import documents
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp_types import PromptReference, ResourceTemplateReference

ENDPOINT, CERTIFICATE = sys.argv[1:]
HERE = pathlib.Path(__file__).parent
KNOWN = json.loads((HERE / "calls.json").read_text())
METADATA = {
    "client_name": "Check of the Python client",
    "redirect_uris": ["http://127.0.0.1:9/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
    "application_type": "native",
}

# The requests so far, each with what the server said.
exchanges = []


async def record(answer):
    await answer.aread()
    exchanges.append(answer)


class Memory:
    """Keeps what the client has been given."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Person:
    """Opens the addresses that the client would open in a browser."""

    async def open(self, address):
        self.asked = fields(urllib.parse.urlsplit(address).query)
        command = [sys.executable, HERE / "person.py", address]
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=True)
        self.answer = fields(urllib.parse.urlsplit(done.stdout.strip()).query)

    async def come_back(self):
        return AuthorizationCodeResult(**{name: self.answer.get(name) for name in ("code", "state", "iss")})


def fields(text):
    return dict(urllib.parse.parse_qsl(text))


def check_sign_in(person, memory, document):
    """Checks the sign-in, from the first refusal to the token."""
    first = exchanges[0]
    assert first.status_code == 401, first.status_code
    metadata = re.search('resource_metadata="([^"]+)"', first.headers["www-authenticate"])[1]
    resource = found(metadata).json()
    assert resource["resource"] == ENDPOINT, resource
    [issuer] = resource["authorization_servers"]
    server = found(urllib.parse.urljoin(issuer, "/.well-known/oauth-authorization-server")).json()
    assert server["issuer"] == issuer, server
    assert server["client_id_metadata_document_supported"] is True, server
    assert not [answer for answer in exchanges if str(answer.url) == server["registration_endpoint"]]
    assert person.asked["client_id"] == document, person.asked
    assert person.asked["resource"] == ENDPOINT, person.asked
    assert person.asked["code_challenge_method"] == "S256", person.asked
    assert person.answer["iss"] == issuer, person.answer
    token = fields(found(server["token_endpoint"]).request.content.decode())
    assert token["resource"] == ENDPOINT and token["code_verifier"], token
    assert memory.tokens.refresh_token, "no refresh token"


def found(address):
    for answer in exchanges:
        if str(answer.url) == address:
            return answer
    raise AssertionError(f"no request for {address}")


async def every(listing, items):
    """Returns the items of all pages of a list."""
    listed, cursor = [], None
    while True:
        page = await listing(cursor=cursor)
        listed += getattr(page, items)
        cursor = page.next_cursor
        if cursor is None:
            return listed


async def use_tools(client):
    tools = await every(client.list_tools, "tools")
    names, called = {tool.name for tool in tools}, set(KNOWN["tools"])
    assert names == called, f"calls.json must hold calls of every listed tool, and of no other: {sorted(names ^ called)}"
    for tool in tools:
        for arguments in KNOWN["tools"][tool.name]:
            result = await client.call_tool(tool.name, arguments)
            assert not result.is_error and result.structured_content, f"{tool.name} refuses {arguments}: {result}"
            assert result.content[0].text, f"{tool.name} says nothing in text"
    for call in KNOWN["refused"]:
        result = await client.call_tool(call["name"], call["arguments"])
        assert result.is_error and result.content[0].text, f"{call} is not refused: {result}"
    return f"{len(tools)} tools"


async def value(client, ref, name):
    """Returns a value of an argument: the first that the server completes, or the known one."""
    if client.server_capabilities.completions:

        async def complete(begun):
            return (await client.complete(ref, {"name": name, "value": begun})).completion.values

        completed = await complete("")
        if completed:
            first = completed[0]
            assert first in await complete(first[:3]), f"{name}: {first} does not complete its own beginning"
            return first
    return KNOWN["values"].get(name)


async def use_resources(client):
    if not client.server_capabilities.resources:
        return "no resources"
    resources = await every(client.list_resources, "resources")
    addresses = [str(resource.uri) for resource in resources]
    templates = [template.uri_template for template in await every(client.list_resource_templates, "resource_templates")]
    for template in templates:
        address = template
        for name in re.findall(r"\{([^}]+)\}", template):
            filled = await value(client, ResourceTemplateReference(uri=template), name)
            assert filled, f"calls.json must hold a value of {name} in {template}"
            address = address.replace(f"{{{name}}}", urllib.parse.quote(filled, safe=""))
        addresses.append(address)
    assert addresses, "the server has the capability resources and lists none"
    for address in addresses:
        contents = (await client.read_resource(address)).contents
        assert contents and all(content.text for content in contents), f"{address} is empty"
    return f"{len(resources)} resources, {len(templates)} templates"


async def use_prompts(client):
    if not client.server_capabilities.prompts:
        return "no prompts"
    prompts = await every(client.list_prompts, "prompts")
    assert prompts, "the server has the capability prompts and lists none"
    for prompt in prompts:
        given = {}
        for argument in prompt.arguments or []:
            filled = await value(client, PromptReference(name=prompt.name), argument.name)
            assert filled or not argument.required, f"calls.json must hold a value of {argument.name} for {prompt.name}"
            if filled:
                given[argument.name] = filled
        assert (await client.get_prompt(prompt.name, given)).messages, f"{prompt.name} has no messages"
    return f"{len(prompts)} prompts"


async def main():
    document = documents.serve(CERTIFICATE, {"client": METADATA})["client"]
    memory, person = Memory(), Person()
    for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
        sign_in = OAuthClientProvider(
            ENDPOINT,
            OAuthClientMetadata(**METADATA),
            memory,
            person.open,
            person.come_back,
            client_metadata_url=document,
        )
        async with httpx2.AsyncClient(auth=sign_in, timeout=60, event_hooks={"response": [record]}) as http_client:
            async with Client(streamable_http_client(ENDPOINT, http_client=http_client), mode=mode) as client:
                if mode == "legacy":
                    check_sign_in(person, memory, document)
                assert client.protocol_version == version, client.protocol_version
                used = [await use_tools(client), await use_resources(client), await use_prompts(client)]
        print(f"test-mcp: Python client, {version}: used {', '.join(used)}", flush=True)
    print("test-mcp: Python client: signed in by its metadata document", flush=True)


try:
    asyncio.run(main())
except Exception:
    traceback.print_exc()
    for answer in exchanges[-2:]:
        request = answer.request
        print(f"\n{request.method} {request.url}\n{request.content.decode()[:4000]}", file=sys.stderr)
        print(f"answered {answer.status_code}\n{answer.text[:4000]}", file=sys.stderr)
    sys.exit(1)
