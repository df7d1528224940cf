"""Signs in at the embedded issuer with what common assistants publish as their metadata document, or register.

usage: assistants.py URL CERTIFICATE, with the root of the service, and a certificate of 127.0.0.1 that it trusts.
assistants.json holds the documents and registrations, and the address at which each assistant is called back. An entry with a `fault` is
refused, which is known: the check fails once it is not.
"""

import base64
import hashlib
import json
import pathlib
import secrets
import subprocess
import sys
import urllib.parse

import documents
import httpx2

SERVICE, CERTIFICATE = sys.argv[1:]
HERE = pathlib.Path(__file__).parent
ASSISTANTS = json.loads((HERE / "assistants.json").read_text())


class Refused(Exception):
    """The sign-in went no further; the text says what the server said."""


def register(registration):
    answer = httpx2.post(f"{SERVICE}/oauth/register", json=registration)
    if answer.status_code != 201:
        raise Refused(f"registration answered {answer.status_code}\n{answer.text}")
    return answer.json()["client_id"]


def sign_in(client_id, redirect):
    """Takes the authorization code grant to its tokens. A person signs in and allows it in between."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect,
        "state": secrets.token_urlsafe(),
        "scope": "openid profile email offline_access",
        "resource": f"{SERVICE}/mcp",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    address = f"{SERVICE}/oauth/authorize?{urllib.parse.urlencode(asked)}"
    person = subprocess.run([sys.executable, HERE / "person.py", address], capture_output=True, text=True)
    back = person.stdout.strip()
    if person.returncode != 0 or not back.startswith(f"{redirect}?"):
        raise Refused(f"{person.stderr}{back}")
    redeemed = {
        "grant_type": "authorization_code",
        "code": dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query)).get("code", ""),
        "client_id": client_id,
        "redirect_uri": redirect,
        "resource": asked["resource"],
        "code_verifier": verifier,
    }
    answer = httpx2.post(f"{SERVICE}/oauth/token", data=redeemed)
    if answer.status_code != 200 or "refresh_token" not in answer.json():
        raise Refused(f"token endpoint answered {answer.status_code}\n{answer.text}")


published = {name: assistant["document"] for name, assistant in ASSISTANTS.items() if "document" in assistant}
addresses = documents.serve(CERTIFICATE, published)
signed_in, refused, failed = [], [], False
for name, assistant in ASSISTANTS.items():
    try:
        sign_in(addresses.get(name) or register(assistant["registration"]), assistant["redirect"])
        signed_in.append(name)
        if "fault" in assistant:
            failed = True
            print(f"{name} signs in now: remove its fault from assistants.json", file=sys.stderr)
    except Refused as refusal:
        refused.append(name)
        if "fault" not in assistant:
            failed = True
            print(f"{name} is refused:\n{refusal}", file=sys.stderr)
known = f"; refused, as is known: {', '.join(refused)}" if refused else ""
print(f"test-mcp: sign-in with what these publish or register: {', '.join(signed_in)}{known}")
sys.exit(failed)
