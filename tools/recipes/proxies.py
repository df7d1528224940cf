"""Runs the demo behind the proxies that docs/OPERATING.md configures, with its settings, and looks at what people meet there.

usage: proxies.py SERVER FOLDER NGINX CADDY

The blocks `toml`, `nginx` and `caddy` of the page are used as they are, but for the name, the ports and the certificate: the demo signs
people in on loopback only.
"""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

from run import blocks

PAGE = "docs/OPERATING.md"
NAME = "search.example.org"
SECONDS = 60
# Few requests of an address without a token are answered, and it takes a minute until one more is.
LIMITS = {"SIGHTLINE_RATE_LIMIT__BURST": "5", "SIGHTLINE_RATE_LIMIT__PER_MINUTE": "1", "SIGHTLINE_PLANS__PRO__BURST": "100"}


class NotStarted(Exception):
    """A program ended before it answered. Another program may have taken its port."""


def free_ports(number: int) -> list[int]:
    """Ports that are free at the moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def block(language: str, *replaced: tuple[str, str]) -> str:
    """The only block of a language, with texts replaced. Each text must be there."""
    (text,) = (one.text for one in blocks(PAGE) if one.language == language)
    for old, new in replaced:
        if old not in text:
            sys.exit(f"{PAGE}: the block of {language} lacks {old}")
        text = text.replace(old, new)
    return text


class Service:
    """The demo behind a proxy."""

    def __init__(self, folder: Path, server: str):
        self.folder, self.server, self.running = folder, server, []
        self.own, self.port, self.plain = free_ports(3)
        self.host = f"127.0.0.1:{self.port}"
        self.base = f"https://{self.host}"
        self.certificate, self.key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
            + ["-subj", "/CN=tools", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
            + ["-keyout", str(self.key), "-out", str(self.certificate)],
            check=True,
            capture_output=True,
        )
        self.tls = ssl.create_default_context(cafile=str(self.certificate))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SSL_CERT_FILE": str(self.certificate)}

    def start(self, name: str, command: list[str], environment: dict[str, str], port: int) -> None:
        """Starts a program, and returns when it accepts connections."""
        log = self.folder / f"{name}.log"
        with log.open("w") as output:
            program = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=output, stderr=output)
        self.running.append(program)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and program.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0 and program.poll() is None:
                    return
            time.sleep(0.1)
        raise NotStarted(f"{name} did not start:\n{log.read_text()}")

    def nginx(self, program: str) -> None:
        """Starts nginx."""
        text = block(
            "nginx",
            ("127.0.0.1:8080", f"127.0.0.1:{self.own}"),
            ("    listen [::]:80;\n", ""),
            ("    listen [::]:443 ssl http2;\n", ""),
            ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(self.certificate)),
            (f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(self.key)),
            (f"https://{NAME}", self.base),
            (f"server_name {NAME}", "server_name 127.0.0.1"),
        )
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds)
        main = f"daemon off; master_process off; pid {self.folder}/nginx.pid; error_log stderr;\nevents {{}}\n"
        (self.folder / "nginx.conf").write_text(f"{main}http {{\naccess_log off;\n{folders}{text}}}\n")
        self.start("nginx", [program, "-p", str(self.folder), "-e", "stderr", "-c", "nginx.conf"], self.environment, self.port)

    def caddy(self, program: str) -> None:
        """Starts Caddy. With a certificate of its own it asks nobody for one."""
        text = block(
            "caddy",
            ("127.0.0.1:8080", f"127.0.0.1:{self.own}"),
            (f"{NAME} {{", f"127.0.0.1 {{\n\ttls {self.certificate} {self.key}"),
        )
        ports = f"\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port {self.plain}\n\thttps_port {self.port}\n"
        (self.folder / "Caddyfile").write_text(f"{{\n{ports}}}\n\n{text}")
        self.start("caddy", [program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"], self.environment, self.port)

    def serve(self) -> None:
        """Starts the service with the settings of the page, and waits until it is whole."""
        metrics = re.search(r"\[metrics\]\nlisten = \"(.*)\"", block("toml"))
        text = block("toml", ("127.0.0.1:8080", f"127.0.0.1:{self.own}"), (f"https://{NAME}", self.base), (metrics[1], "127.0.0.1:0"))
        (self.folder / "sightline.toml").write_text(text)
        self.start("sightline", [self.server, "serve"], {**self.environment, **LIMITS, "RUST_LOG": "warn"}, self.own)
        deadline = time.monotonic() + SECONDS
        while json.loads(self.ask("/api/health")[2])["data"]["status"] != "ok":
            if time.monotonic() > deadline:
                raise NotStarted(f"the service is not whole: {self.ask('/api/health')[2]}")
            time.sleep(0.5)

    def stop(self) -> None:
        """Ends what was started."""
        for program in self.running:
            program.terminate()
        for program in self.running:
            program.wait()

    def ask(self, path: str, method: str = "GET", body: str | None = None, address: str = "127.0.0.1", **headers: str):
        """The status, the headers and the text of an answer to somebody at an address."""
        asked = http.client.HTTPSConnection(self.host, timeout=SECONDS, source_address=(address, 0), context=self.tls)
        asked.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = asked.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def expect(what: str, is_so: bool, seen: object) -> None:
    """Ends with what was seen if something is not as expected."""
    if not is_so:
        sys.exit(f"proxies: expected {what}; seen: {seen}")


def look_at_pages(service: Service) -> None:
    """Redirects, cookies and the sign-in page."""
    asked = http.client.HTTPConnection("127.0.0.1", service.plain, timeout=SECONDS)
    asked.request("GET", "/p/1?a=b")
    answer = asked.getresponse()
    to = answer.headers["Location"]
    # Caddy takes its port for one that the router maps to 443.
    same = to in (f"{service.base}/p/1?a=b", "https://127.0.0.1/p/1?a=b")
    expect("plain HTTP to lead to the same address by https", answer.status in (301, 308) and same, to)
    status, headers, _ = service.ask("/", Accept="text/html")
    expect("/ to lead to sign-in", status == 303 and headers["Location"].startswith("/auth/login"), (status, headers["Location"]))
    expect("no HSTS, because the address has a port", "Strict-Transport-Security" not in headers, headers)
    status, headers, _ = service.ask("/auth/login?return_to=/", Accept="text/html")
    cookie, to = headers.get("Set-Cookie", ""), headers.get("Location", "")
    expect("a cookie for https", cookie.startswith("__Host-") and "; Secure" in cookie, cookie)
    expect("sign-in at the public address", to.startswith(f"{service.base}/oauth/authorize?"), to)
    status, _, page = service.ask(to.removeprefix(service.base), Accept="text/html", Cookie=cookie.split(";")[0])
    expect("the sign-in page", status == 200 and 'value="owner"' in page, (status, page[:500]))


def look_at_issuer(service: Service) -> str:
    """The addresses that applications read, and a whole sign-in. Returns the token."""
    status, _, text = service.ask("/.well-known/oauth-authorization-server")
    metadata = json.loads(text)
    addresses = [value for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))]
    expect("the issuer at the public address", status == 200 and metadata["issuer"] == service.base, text)
    expect("endpoints at the public address", addresses and all(one.startswith(service.base) for one in addresses), addresses)
    status, headers, _ = service.ask("/api/properties")
    expect("the way to the issuer in a 401", status == 401 and service.base in headers["WWW-Authenticate"], headers)
    signed_in = subprocess.run(
        [service.server, "login", "--as", "owner"],
        cwd=service.folder,
        env=service.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    expect("a sign-in", signed_in.returncode == 0, signed_in.stderr)
    return signed_in.stdout.strip()


def look_at_limits(service: Service, token: str) -> None:
    """What the service allows passes the proxy, and what it refuses is refused in its words."""
    bearer = {"Authorization": f"Bearer {token}"}
    status, _, text = service.ask("/api/properties?headline=false", **bearer)
    expect("the sites of the owner", status == 200 and "northmoor" in text, text)
    first = json.loads(text)["data"][0]["id"]
    condition = {"dimension": "query", "operator": "contains", "value": "a" * 1050}
    filters = json.dumps([condition] * 50, separators=(",", ":"))
    quoted = filters.translate({ord(one): f"%{ord(one):02X}" for one in '"{}[]'})
    status, headers, text = service.ask(f"/api/properties/{first}/performance?scope=totals&filters={quoted}", **bearer)
    is_json = headers["Content-Type"].startswith("application/json;")
    expect("an answer to a long question", status in (200, 400) and is_json and len(quoted) > 55_000, (status, text[:500]))
    long = json.dumps({"name": "a" * 1_500_000})
    status, _, text = service.ask("/api/tags", "POST", long, **bearer, Content_Type="application/json")
    expect("the service to refuse a long body", status == 413 and "payload_too_large" in text, (status, text[:500]))


def look_at_addresses(service: Service) -> None:
    """Each visitor has a limit of their own, and cannot claim another address."""
    seen = [service.ask("/api/billing/plans", address="127.0.0.2", X_Forwarded_For=f"192.0.2.{n}")[0] for n in range(7)]
    expect("a limit of one address, whatever it claims", seen[:5] == [200] * 5 and 429 in seen[5:], seen)
    other = service.ask("/api/billing/plans", address="127.0.0.3")[0]
    expect("another address to have its own limit", other == 200, other)


def walk(name: str, program: str, server: str, folder: Path) -> None:
    """Starts a proxy and the service behind it, and looks. Starts anew where a port was taken meanwhile."""
    for left in reversed(range(5)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        service = Service(folder, server)
        try:
            getattr(service, name)(program)
            service.serve()
            look_at_pages(service)
            look_at_limits(service, look_at_issuer(service))
            look_at_addresses(service)
            print(f"{PAGE}: the service is right behind {name}")
            return
        except NotStarted as error:
            if not left:
                sys.exit(str(error))
        finally:
            service.stop()


def main() -> None:
    server, folder, nginx, caddy = sys.argv[1:]
    walk("nginx", nginx, server, Path(folder) / "nginx")
    walk("caddy", caddy, server, Path(folder) / "caddy")


main()
