"""Google's own client libraries against the simulated search engine: consent, exchange, refresh, reading, revocation.

usage: check.py URL, with the root of a running `sightline simulator`. No browser is needed: the consent page answers a script that
names an account in `login_hint`.
"""

import datetime
import os
import sys
import urllib.parse

# The simulator speaks plain http, on loopback. The library refuses that unless told.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import Request
from google_auth_oauthlib.flow import Flow
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

ROOT = sys.argv[1]
READONLY = "https://www.googleapis.com/auth/webmasters.readonly"
REDIRECT = "http://127.0.0.1:9/callback"
CLIENT = {
    "web": {
        "client_id": "google-check",
        "client_secret": "any",
        "auth_uri": f"{ROOT}/o/oauth2/v2/auth",
        "token_uri": f"{ROOT}/token",
        "redirect_uris": [REDIRECT],
    }
}


def consent(**asked):
    """Runs the code grant. Returns the flow, with its credentials."""
    flow = Flow.from_client_config(CLIENT, scopes=["openid", READONLY], redirect_uri=REDIRECT)
    address, state = flow.authorization_url(
        access_type="offline", include_granted_scopes="true", login_hint="owner@demo.test", **asked
    )
    answer = requests.get(address, allow_redirects=False, timeout=10)
    assert answer.status_code == 302, answer.text
    back = answer.headers["location"]
    assert urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["state"] == [state], back
    flow.fetch_token(authorization_response=back)
    return flow


def step(name):
    print(f"google-check: {name}", flush=True)


step("the first consent gives a refresh token, a second one does not, and one that is asked for does")
credentials = consent().credentials
assert credentials.refresh_token and READONLY in credentials.scopes, credentials.scopes
assert consent().credentials.refresh_token is None
credentials = consent(prompt="consent").credentials
assert credentials.refresh_token

step("a refresh gives another access token")
before = credentials.token
credentials.refresh(Request())
assert credentials.valid and credentials.token and credentials.refresh_token
assert credentials.token != before or credentials.expiry

step("the client for reading lists sites and asks for search data")
api = build(
    "searchconsole", "v1", credentials=credentials, static_discovery=True, client_options={"api_endpoint": ROOT}
)
sites = api.sites().list().execute()["siteEntry"]
assert any(site["permissionLevel"] == "siteOwner" for site in sites), sites
site = sites[0]["siteUrl"]
assert api.sites().get(siteUrl=site).execute()["siteUrl"] == site
last = datetime.date.today() - datetime.timedelta(days=5)
question = {
    "startDate": str(last - datetime.timedelta(days=6)),
    "endDate": str(last),
    "dimensions": ["QUERY"],
    "rowLimit": 10,
}
rows = api.searchanalytics().query(siteUrl=site, body=question).execute()["rows"]
assert len(rows) == 10 and all(row["clicks"] <= row["impressions"] for row in rows), rows
try:
    api.sites().get(siteUrl="https://foreign.example/").execute()
    raise AssertionError("a foreign site was read")
except HttpError as error:
    assert error.resp.status == 403, error

step("a revoked grant is dead")
revoked = requests.post(f"{ROOT}/revoke", data={"token": credentials.refresh_token}, timeout=10)
assert revoked.status_code == 200, revoked.text
try:
    credentials.refresh(Request())
    raise AssertionError("a revoked grant was refreshed")
except RefreshError as error:
    assert error.args[1]["error"] == "invalid_grant", error.args
assert requests.post(f"{ROOT}/revoke", data={"token": "1//0dead"}, timeout=10).json()["error"] == "invalid_token"
assert consent().credentials.refresh_token, "the first consent after the end of the former"

step("all steps passed")
