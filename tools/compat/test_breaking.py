"""Tests of breaking.py: `python3 -m unittest discover tools/compat`."""

import json
import unittest

from breaking import Comparison, declared

TAG = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "name": {"type": "string", "minLength": 1, "maxLength": 100},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "order": {"type": "integer", "minimum": 0, "maximum": 9},
    },
}
DOCUMENT = {
    "paths": {
        "/tags": {
            "post": {
                "operationId": "createTag",
                "security": [{"token": []}],
                "parameters": [{"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 50}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/TagInput"}}}},
                "responses": {
                    "201": {
                        "headers": {"ETag": {}},
                        "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Tag"}}}},
                    },
                    "400": {"description": "refused"},
                },
            }
        }
    },
    "components": {"schemas": {"Tag": TAG, "TagInput": TAG}},
}


def changed(change):
    new = json.loads(json.dumps(DOCUMENT))
    change(new, new["paths"]["/tags"]["post"], new["components"]["schemas"])
    return [what for _, what in Comparison(DOCUMENT, new).run()]


BREAKING = {
    "the operation is gone": lambda d, o, s: d["paths"]["/tags"].pop("post"),
    "operationId": lambda d, o, s: o.update(operationId="makeTag"),
    "a way to authenticate is gone": lambda d, o, s: o.update(security=[{"cookie": []}]),
    "status 201: is gone": lambda d, o, s: o["responses"].pop("201"),
    "201 header ETag: is gone": lambda d, o, s: o["responses"]["201"]["headers"].pop("ETag"),
    "application/json is gone": lambda d, o, s: o["responses"]["201"]["content"].clear(),
    "query parameter limit: is gone": lambda d, o, s: o["parameters"].clear(),
    "query parameter limit: is required now": lambda d, o, s: o["parameters"][0].update(required=True),
    "query parameter limit: maximum was 50 and is 10": lambda d, o, s: o["parameters"][0]["schema"].update(maximum=10),
    "query parameter x: is new and required": lambda d, o, s: o["parameters"].append({"in": "query", "name": "x", "required": True}),
    "request body: is required now": lambda d, o, s: o["requestBody"].update(required=True),
    "request body.name: is required now": lambda d, o, s: s["TagInput"]["required"].append("name"),
    "request body.name: is gone": lambda d, o, s: s["TagInput"]["properties"].pop("name"),
    "request body.name: maxLength was 100 and is 9": lambda d, o, s: s["TagInput"]["properties"]["name"].update(maxLength=9),
    "request body.name: minLength was 1 and is 2": lambda d, o, s: s["TagInput"]["properties"]["name"].update(minLength=2),
    "request body.name: pattern was none and is b": lambda d, o, s: s["TagInput"]["properties"]["name"].update({"pattern": "a", "x-pattern": "b"}),
    "request body.name: pattern was none and is a": lambda d, o, s: s["TagInput"]["properties"]["name"].update(pattern="a"),
    "request body.color: refuses ['blue'] now": lambda d, o, s: s["TagInput"]["properties"]["color"].update(enum=["red"]),
    "request body.order: its type": lambda d, o, s: s["TagInput"]["properties"]["order"].update(type="string"),
    "201 body[].name: is gone": lambda d, o, s: s["Tag"]["properties"].pop("name"),
    "201 body[].id: may be absent now": lambda d, o, s: s["Tag"]["required"].clear(),
    "201 body[].id: its format was uuid and is None": lambda d, o, s: s["Tag"]["properties"]["id"].pop("format"),
    "201 body[].color: may be ['green'] now": lambda d, o, s: s["Tag"]["properties"]["color"]["enum"].append("green"),
    "201 body[].color: may be any value now": lambda d, o, s: s["Tag"]["properties"]["color"].pop("enum"),
    "201 body[].order: its type was integer and is ['integer', 'null']": lambda d, o, s: s["Tag"]["properties"]["order"].update(type=["integer", "null"]),
    "201 body: its type": lambda d, o, s: o["responses"]["201"]["content"]["application/json"].update(schema={"type": "object"}),
}

HARMLESS = {
    "a new operation": lambda d, o, s: d["paths"].update({"/more": {"get": {"operationId": "more"}}}),
    "a new optional parameter": lambda d, o, s: o["parameters"].append({"in": "query", "name": "x"}),
    "a new optional field of a request": lambda d, o, s: s["TagInput"]["properties"].update(x={"type": "string"}),
    "a new field of an answer": lambda d, o, s: s["Tag"]["properties"].update(x={"type": "string"}),
    "a field of an answer that is always there": lambda d, o, s: s["Tag"]["required"].append("name"),
    "a field of a request that may be left out": lambda d, o, s: s["TagInput"]["required"].clear(),
    "a wider bound of a request": lambda d, o, s: s["TagInput"]["properties"]["name"].update(maxLength=200),
    "one more value in a request": lambda d, o, s: s["TagInput"]["properties"]["color"]["enum"].append("green"),
    "one value less in an answer": lambda d, o, s: s["Tag"]["properties"]["color"]["enum"].pop(),
    "another way to authenticate": lambda d, o, s: o["security"].append({"cookie": []}),
    "another error": lambda d, o, s: o["responses"].update({"409": {}}),
    "one error less": lambda d, o, s: o["responses"].pop("400"),
    "another name of a schema": lambda d, o, s: (
        s.update(Label=s.pop("Tag")),
        o["responses"]["201"]["content"]["application/json"]["schema"].update(items={"$ref": "#/components/schemas/Label"}),
    ),
}


class Breaking(unittest.TestCase):
    def test_each_breaking_change_is_named(self):
        for name, change in BREAKING.items():
            with self.subTest(name):
                found = changed(change)
                self.assertTrue(any(name in what for what in found), found)
                self.assertEqual(len(found), 1, found)

    def test_other_changes_are_let_through(self):
        for name, change in HARMLESS.items():
            with self.subTest(name):
                self.assertEqual(changed(change), [])

    def test_only_lines_of_what_is_unreleased_declare(self):
        changelog = "## Unreleased\n\n- Breaking: `createTag`\n  and `listTags`: order\n- `other`\n\n## 1.0\n\n- Breaking: `old`\n"
        self.assertEqual(declared(changelog), {"createTag", "listTags"})


if __name__ == "__main__":
    unittest.main()
