"""What schemathesis cannot know from the document: ids that exist, filters inside a string, and rules of every answer."""

import json
import os
import re
import urllib.parse
import urllib.request
import uuid

import schemathesis
from hypothesis import strategies as st

FIELDS = {"error", "code", "hint", "correlationId"}
CONDITIONAL = {"if-match", "if-none-match"}
INTERNALS = re.compile(r"panicked at|\.rs:\d+|SELECT .+ FROM|sqlx|sea_orm")


def get(path):
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(os.environ["BASE_URL"] + path, headers=headers)) as answer:
        return json.load(answer)["data"], answer.headers["X-API-Version"]


# A random property is nobody's: every operation on it would be a 404, and nothing behind it would be reached.
FOUND, VERSION = get("/api/properties")
PROPERTIES = [found["id"] for found in FOUND]

condition = st.fixed_dictionaries(
    {
        "dimension": st.sampled_from(["query", "page", "country", "device", "searchAppearance"]),
        "operator": st.sampled_from(["contains", "not_contains", "equals", "not_equals", "matches_regex", "or_list"]),
        "value": st.one_of(st.sampled_from(["usa", "MOBILE", "/a/", "a,b", "^a", "("]), st.text(min_size=1, max_size=20)),
    },
    optional={"logic": st.sampled_from(["and", "or"])},
)
schemathesis.openapi.format("filters-json", st.lists(condition, max_size=3).map(json.dumps))


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Most cases are about a property that is there; the rest keep what was generated."""
    operation = context.operation
    if path_parameters and operation and operation.path.startswith("/api/properties/{id}") and "id" in path_parameters:
        given = str(path_parameters["id"])
        if re.fullmatch(r"[0-9a-fA-F-]{36}", given):
            path_parameters["id"] = PROPERTIES[sum(given.encode()) % len(PROPERTIES)]
    return path_parameters


@schemathesis.hook
def filter_case(context, case):
    """Leaves out four kinds of bad input whose answers are decided, and are not what the checks expect."""
    # A conditional header holds a list of tags of whatever length, and one that names no tag of ours does not match (RFC 9110, 13.1);
    # its maxLength in the document tells clients how long a tag can be.
    conditional = [str(value) for name, value in (case.headers or {}).items() if name.lower() in CONDITIONAL]
    if any(len(value) > 1024 for value in conditional):
        return False
    # A probe of liveness answers in whatever version it asks for, so that no orchestrator restarts the service over a header.
    if case.operation.path == "/api/health" and (case.query or {}).get("probe") == "live":
        if any(name.lower() == "x-api-version" and value != VERSION for name, value in (case.headers or {}).items()):
            return False
    # An optional parameter without a value counts as not sent, and is named in X-Ignored (docs/design/contract.md).
    if any(value in ("", [""], [], None) for value in (case.query or {}).values()):
        return False
    # A URL over 64 KB is refused by the HTTP layer, with a bare 414 (docs/SELF-HOSTING.md).
    return len(urllib.parse.urlencode(case.query or {}, doseq=True)) < 60_000


@schemathesis.hook
def before_call(context, case, kwargs):
    headers, operation = case.headers or {}, case.operation
    positive = not case.meta or case.meta.generation.mode.is_positive
    # A valid write is a new one, not a repetition of the one before with another body.
    if positive and "Idempotency-Key" in headers:
        headers["Idempotency-Key"] = str(uuid.uuid4())
    # A well-formed version that is not served is refused before anything else, and a random tag never matches: most valid cases would
    # end there.
    if positive and "X-API-Version" in headers:
        headers["X-API-Version"] = VERSION
    if positive and len(headers.get("If-Match", "")) % 2:
        headers["If-Match"] = "*"
    # An untracked property is not found, so nothing after this call would be reached.
    if positive and operation.path == "/api/properties/tracking" and isinstance(case.body, dict):
        case.body["propertyIds"] = PROPERTIES


def refused_by_http(response):
    """What the HTTP layer itself refuses, before the service sees it, has no body (docs/SELF-HOSTING.md)."""
    return response.status_code in (400, 414, 431) and not response.content


@schemathesis.check
def standing_headers(context, response, case):
    if refused_by_http(response):
        return
    version = response.headers.get("x-api-version", [""])[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", version), f"X-API-Version is {version!r}"
    assert response.headers.get("x-correlation-id", [""])[0], "no X-Correlation-Id"


@schemathesis.check
def errors_have_one_shape(context, response, case):
    if response.status_code < 400 or case.method.upper() == "HEAD" or refused_by_http(response):
        return
    body = json.loads(response.text)
    assert set(body) <= FIELDS and isinstance(body.get("error"), str) and isinstance(body.get("code"), str), body
    assert not INTERNALS.search(response.text), f"internals: {response.text[:300]}"
    if response.status_code == 400:
        assert body.get("hint"), f"a refusal of input without a hint: {body}"
    if response.status_code == 401:
        assert "resource_metadata=" in response.headers.get("www-authenticate", [""])[0]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Texts follow the exact patterns: those that clients get say only what every regular-expression engine can."""

    def visit(node):
        if isinstance(node, dict):
            if "x-pattern" in node:
                node["pattern"] = node["x-pattern"]
            for child in node.values():
                visit(child)
        elif isinstance(node, list):
            for child in node:
                visit(child)

    visit(raw_schema)
