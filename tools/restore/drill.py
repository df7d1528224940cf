"""Backs a service up and restores it by the commands of docs/OPERATING.md, and compares what both answer.

usage: drill.py SERVER URL

SERVER is the program, URL a database on a PostgreSQL server, such as postgres://postgres@127.0.0.1/postgres. Two databases are made on that
server, and dropped at the end. Exits with 1 if the restored service differs.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from service import Balancer, Caller, Program, Refused, service, simulator

PAGE = Path(__file__).parents[2] / "docs" / "OPERATING.md"
# The last words of the refusal to start with another key.
OTHER_KEY = "secrets.key: is not the key of this database"
# The days of the questions to the search engine.
DAYS = "startDate=2026-08-01&endDate=2026-08-28"
# When a service last read, said or was asked something, which goes on after the restore.
MOMENTS = {"cachedAt", "checkedAt", "exportedAt", "lastSuccessAt", "lastUsedAt"}
KEYED = {"date": "2026-08-16", "text": "New product pages went live", "category": "release"}


def commands() -> list[str]:
    """The commands of the page: those that make a backup, and those that restore it."""
    backup = PAGE.read_text().split("\n## Backup\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", backup, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2, f"{PAGE} should have two blocks of commands below Backup, and has {len(blocks)}"
    return blocks


def run(script: str, folder: Path, **variables: str) -> None:
    """Runs commands of the page, in `folder`."""
    print(script.strip(), flush=True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=os.environ | variables, check=True)


class Databases:
    """Two databases on a server."""

    def __init__(self, server: str) -> None:
        self.server = server
        run_id = secrets.token_hex(6)
        self.names = [f"sightline_drill_{run_id}_{part}" for part in ("first", "restored")]
        self.urls = [urlsplit(server)._replace(path=f"/{name}").geturl() for name in self.names]

    def __enter__(self) -> list[str]:
        for name in self.names:
            subprocess.run(["createdb", f"--maintenance-db={self.server}", "--template=template0", name], check=True)
        return self.urls

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            subprocess.run(["dropdb", f"--maintenance-db={self.server}", "--if-exists", "--force", name], check=True)


def make_records(owner: Caller) -> tuple[str, list[str]]:
    """Makes a record of each kind. Returns a site, and every path to compare."""
    listed = owner.data("GET", "/api/properties?headline=false")
    site = next(entry for entry in listed if entry["siteUrl"] == "https://www.ledgerline.example/")["id"]
    of_site = f"/api/properties/{site}"
    contains = lambda value: [{"operator": "contains", "value": value}]
    mobile = [{"dimension": "device", "operator": "equals", "value": "MOBILE"}]
    made = {
        f"{of_site}/annotations": KEYED,
        f"{of_site}/segments": {"name": "Ärger", "color": "#2563eb", "conditions": contains("/a/")},
        f"{of_site}/topic-clusters": {"name": "Tents", "conditions": contains("tent")},
        f"{of_site}/share-links": {"name": "For the board", "expiresAt": "2030-01-01T00:00:00.000Z"},
        "/api/filter-presets": {"name": "Mobile", "filters": mobile},
        "/api/tags": {"name": "Shops"},
        "/api/team": {"email": "colleague@acme.example", "role": "viewer", "propertyIds": [site]},
    }
    paths = ["/api/properties?headline=false", "/api/properties/tracking", of_site, f"{of_site}/branded-keywords"]
    for path, body in made.items():
        record = owner.data("POST", path, body, idempotency_key=f"drill {path}")
        paths += [path, f"{path}/{record['id']}"]
        if path.endswith("share-links"):
            paths.append(f"/api/share/{record['token']}/performance?{DAYS}")
        if path == "/api/tags":
            owner.data("POST", f"{path}/{record['id']}/properties", {"propertyIds": [site]})
            paths.append(f"{path}/{record['id']}/properties")
    owner.data("POST", f"{of_site}/branded-keywords", {"keywords": ["Café Łódź"]}, idempotency_key="drill keywords")
    owner.data("PUT", f"{of_site}/favorite", {"favorite": True})
    owner.data("PUT", "/api/integrations/provider-b", {"apiKey": "good-key"})
    paths += ["/api/integrations/status", "/api/billing/summary", "/api/accounts/health", "/api/privacy/access"]
    # Questions to the search engine: the restored service has nothing in memory, so it needs the grant.
    paths += [f"{of_site}/performance?scope=all&{DAYS}", f"{of_site}/performance?classification=branded&{DAYS}"]
    return site, paths


def answers(owner: Caller, paths: list[str]) -> dict[str, object]:
    return {path: owner.data("GET", path) for path in paths}


def keyed_write(owner: Caller, site: str) -> tuple[int, str | None, bytes]:
    """Sends the keyed write again."""
    path = f"/api/properties/{site}/annotations"
    status, headers, body = owner.send("POST", path, KEYED, idempotency_key=f"drill {path}")
    return status, headers.get("idempotency-replayed"), body


def unlike(before: object, now: object, place: str) -> list[str]:
    """The places where two answers differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = (before.keys() | now.keys()) - MOMENTS
        return [line for name in sorted(names) for line in unlike(before.get(name), now.get(name), f"{place}.{name}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [line for number, pair in enumerate(zip(before, now)) for line in unlike(*pair, f"{place}[{number}]")]
    return [] if before == now else [f"{place} was {json.dumps(before)} and is {json.dumps(now)}"]


def differences(owner: Caller, site: str, before: dict[str, object], written: tuple[int, str | None, bytes]) -> list[str]:
    """What the restored service answers otherwise."""
    found = []
    for path, data in before.items():
        found += unlike(data, owner.data("GET", path), f"GET {path}: data")
    again = keyed_write(owner, site)
    if again != written or again[:2] != (201, "true"):
        found.append(f"the keyed write was answered by {written} and is by {again}")
    tested = owner.data("POST", "/api/integrations/provider-b/test")
    if tested["state"] != "ok":
        found.append(f"the sealed credential of a provider: {tested}")
    return found


def refusal(server: str, folder: Path, settings: dict[str, str]) -> str | None:
    """What is wrong with the answer to another key, if anything is."""
    try:
        started = service(server, folder, {**settings, "DATA_DIR": str(folder), "SECRETS__KEY": secrets.token_hex(32)})
    except Refused as refused:
        return None if OTHER_KEY in str(refused) else f"another key is refused without its reason: {refused}"
    started.stop()
    return "a service starts with another key"


def drill(server: str, urls: list[str], folder: Path, running: list[Program]) -> list[str]:
    backup, restore = commands()
    engine = simulator(server, folder / "engine")
    running.append(engine)
    balancer = Balancer()
    ends = {"API": "", "AUTHORIZE": "/o/oauth2/v2/auth", "TOKEN": "/token", "REVOKE": "/revoke", "USERINFO": "/userinfo"}
    settings = {f"SEARCH_ENGINE__{end}_URL": engine.found + path for end, path in ends.items()}
    settings |= {f"SEO__PROVIDER_{name}__URL": f"{engine.found}/provider-{name.lower()}" for name in "AB"}
    settings |= {"BASE_URL": balancer.url, "IDENTITY__DEMO_SIGN_IN": "true", "RATE_LIMIT__ENABLED": "false"}

    def start(url: str, data: Path) -> Program:
        started = service(server, data.with_suffix(".run"), {**settings, "DATABASE__URL": url, "DATA_DIR": str(data)})
        running.append(started)
        balancer.lead_to(started)
        return started

    kept, restored = folder / "kept", folder / "restored"
    kept.mkdir()
    first = start(urls[0], kept)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SIGHTLINE_BASE_URL": balancer.url}
    signed_in = subprocess.run([server, "login", "--as", "owner"], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    # The restored service takes the same token, because the keys that sign tokens are sealed in the database.
    owner = Caller(balancer.url, signed_in.stdout.strip())
    site, paths = make_records(owner)
    before, written = answers(owner, paths), keyed_write(owner, site)
    run(backup, folder, DATABASE_URL=urls[0], DATA_DIR=str(kept))
    first.stop()
    run(restore, folder, EMPTY_DATABASE_URL=urls[1], NEW_DATA_DIR=str(restored))
    second = start(urls[1], restored)
    found = differences(owner, site, before, written)
    second.stop()
    wrong = refusal(server, folder / "other", {**settings, "DATABASE__URL": urls[1]})
    print(f"restore-drill: {len(before) + 2} answers compared, {len(found)} differences")
    return found + [wrong] * bool(wrong)


def main() -> None:
    server, url = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    running: list[Program] = []
    with Databases(url) as urls, tempfile.TemporaryDirectory() as folder:
        try:
            found = drill(server, urls, Path(folder), running)
        except Refused as refused:
            found = [f"a service does not start: {refused}"]
        finally:
            for program in running:
                program.stop()
    for difference in found:
        print(f"restore-drill: {difference}", file=sys.stderr)
    sys.exit(1 if found else 0)


main()
