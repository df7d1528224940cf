"""Sends requests and records what came of each."""

import hashlib
import json

from history import History, now
from wire import Answer, Broken, Unreached, ask
from world import World


def figures_of(answer: Answer) -> str:
    """A digest of the figures of an answer. Annotations are no figures: the load writes them."""
    data = answer.json()["data"]
    if isinstance(data, dict):
        data.pop("annotations", None)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def names_in(data: object) -> set[str]:
    """The queries and pages that an answer names. Shorter names stand in sealed values by chance."""
    if isinstance(data, list):
        return set().union(*(names_in(entry) for entry in data))
    if not isinstance(data, dict):
        return set()
    own = {data["key"]} if len(data.get("key") or "") >= 8 else set()
    return own.union(*(names_in(entry) for entry in data.values()))


class Caller:
    """Asks at the balancer, or at one replica, as several people."""

    def __init__(self, world: World, history: History) -> None:
        self.world = world
        self.history = history
        self.tokens: dict[str, str] = {}
        # The properties of each person and of the oracle's owner and stranger, by their site.
        self.properties: dict[str, dict[str, str]] = {}
        # The queries and pages that the oracle named.
        self.named: set[str] = set()

    async def sign_in(self) -> None:
        for name in ("owner", "stranger", "viewer"):
            self.tokens[name] = await self.world.token(name)
        for name in ("owner", "stranger"):
            self.tokens[f"oracle {name}"] = await self.world.token(name, self.world.oracle_url)
        for name in ("owner", "stranger"):
            self.properties[name] = await self._properties(self.world.front, self.tokens[name])

    async def _properties(self, address: tuple[str, int], token: str) -> dict[str, str]:
        fields = {"host": f"{address[0]}:{address[1]}", "authorization": f"Bearer {token}"}
        answer = await ask(address, "GET", "/api/properties?headline=false", fields)
        assert answer.status == 200, answer
        return {entry["siteUrl"]: entry["id"] for entry in answer.json()["data"]}

    async def send(
        self,
        op: str,
        method: str,
        path: str,
        *,
        person: str | None = "owner",
        token: str | None = None,
        body: dict | bytes | None = None,
        fields: dict[str, str] | None = None,
        replica: str | None = None,
        question: tuple[str, str, str] | None = None,
        **facts,
    ) -> Answer | None:
        """Sends a request. Returns None if no answer came, which the history records as the status 0."""
        world = self.world
        address = world.replicas[replica].address if replica else world.front
        sent = {"host": f"{world.front[0]}:{world.front[1]}", "x-forwarded-for": "127.0.0.1", **(fields or {})}
        if token or person:
            sent["authorization"] = f"Bearer {token or self.tokens[person]}"
        if isinstance(body, dict):
            sent["content-type"] = "application/json"
            body = json.dumps(body).encode()
        start, answer, broken = now(), None, None
        try:
            answer = await ask(address, method, path, sent, body or b"", seconds=90)
        except (Unreached, Broken) as error:
            broken = repr(error)
        status = answer.status if answer else 0
        found = {"op": op, "status": status, "replica": replica, **facts}
        if answer:
            broken = answer.fields.get("x-broken")
            found["replica"] = replica or answer.fields.get("x-replica")
            found["retry_after"] = answer.fields.get("retry-after")
        if broken:
            found.update(status=0, broken=broken)
        elif status >= 400:
            found.update(path=path, said=answer.body[:300].decode(errors="replace"))
        elif question:
            found.update(question=list(question), figures=figures_of(answer))
        self.history.add("request", start, **found)
        return None if broken else answer

    async def oracle(self, question: tuple[str, str, str]) -> str:
        """What the oracle answers."""
        person, site, path = question
        address = ("127.0.0.1", int(self.world.oracle_url.rsplit(":", 1)[1]))
        token = self.tokens[f"oracle {person}"]
        if f"oracle {person}" not in self.properties:
            self.properties[f"oracle {person}"] = await self._properties(address, token)
        property_id = self.properties[f"oracle {person}"][site]
        fields = {"host": f"127.0.0.1:{address[1]}", "authorization": f"Bearer {token}"}
        answer = await ask(address, "GET", f"/api/properties/{property_id}/{path}", fields)
        assert answer.status == 200, (path, answer)
        self.named |= names_in(answer.json()["data"])
        return figures_of(answer)
