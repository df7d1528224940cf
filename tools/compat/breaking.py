"""Compares two OpenAPI 3.1 documents, and names every change that can break a client of the older one.

usage: breaking.py BASELINE NEW [CHANGELOG]

A change is declared by a line of the changelog that starts with "- Breaking: " and names the operation's id. Exit status 1 means that a
breaking change is not declared. Only the standard library is used.
"""

import json
import re
import sys

METHODS = ("get", "put", "post", "delete", "patch")
LARGER_IS_NARROWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
SMALLER_IS_NARROWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def types(schema):
    """The JSON types that a schema allows. An empty set allows every type."""
    named = schema.get("type", [])
    found = set([named] if isinstance(named, str) else named)
    return found | {"integer"} if "number" in found else found


def exact_pattern(schema):
    """The pattern that the service goes by: the one in `pattern` may say less, so that every regular-expression engine can read it."""
    return schema.get("x-pattern", schema.get("pattern"))


class Comparison:
    """The changes between two documents. `sent` is true for what clients send, false for what they receive."""

    def __init__(self, old, new):
        self.old, self.new, self.found = old, new, []
        self.place = ""
        self.seen = set()

    def say(self, where, what):
        finding = (self.place, f"{where}: {what}")
        if finding not in self.found:
            self.found.append(finding)

    @staticmethod
    def resolved(document, node):
        while isinstance(node, dict) and "$ref" in node:
            target = document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node or {}

    def run(self):
        for path, item in self.old["paths"].items():
            for method in METHODS:
                if method not in item:
                    continue
                operation = item[method]
                self.place, self.seen = operation.get("operationId", f"{method} {path}"), set()
                found = self.new["paths"].get(path, {}).get(method)
                if found is None:
                    self.say(f"{method.upper()} {path}", "the operation is gone")
                else:
                    self.operation(operation, found)
        return self.found

    def operation(self, old, new):
        if old.get("operationId") != new.get("operationId"):
            self.say("operationId", f"is now {new.get('operationId')}, and clients name their functions after it")
        schemes = lambda operation: [sorted(requirement) for requirement in operation.get("security", [])]
        if schemes(new) and any(requirement not in schemes(new) for requirement in schemes(old) or [[]]):
            self.say("security", "a way to authenticate is gone")
        self.parameters(old, new)
        self.request(self.resolved(self.old, old.get("requestBody")), self.resolved(self.new, new.get("requestBody")))
        for status, answer in old.get("responses", {}).items():
            if not status.startswith("2"):
                continue
            if status not in new.get("responses", {}):
                self.say(f"status {status}", "is gone")
                continue
            self.answer(status, self.resolved(self.old, answer), self.resolved(self.new, new["responses"][status]))

    def parameters(self, old, new):
        def named(document, operation):
            found = [self.resolved(document, parameter) for parameter in operation.get("parameters", [])]
            return {(parameter["in"], parameter["name"].lower()): parameter for parameter in found}

        before, after = named(self.old, old), named(self.new, new)
        for key, parameter in before.items():
            where = f"{key[0]} parameter {parameter['name']}"
            if key not in after:
                self.say(where, "is gone")
                continue
            if after[key].get("required") and not parameter.get("required"):
                self.say(where, "is required now")
            self.schema(parameter.get("schema", {}), after[key].get("schema", {}), True, where)
        for key, parameter in after.items():
            if key not in before and parameter.get("required"):
                self.say(f"{key[0]} parameter {parameter['name']}", "is new and required")

    def request(self, old, new):
        if new.get("required") and not old.get("required"):
            self.say("request body", "is required now")
        self.contents(old, new, True, "request body")

    def answer(self, status, old, new):
        self.contents(old, new, False, f"{status} body")
        for name in old.get("headers", {}):
            if name.lower() not in {header.lower() for header in new.get("headers", {})}:
                self.say(f"{status} header {name}", "is gone")

    def contents(self, old, new, sent, where):
        for media, content in old.get("content", {}).items():
            if media not in new.get("content", {}):
                self.say(where, f"{media} is gone")
            else:
                self.schema(content.get("schema", {}), new["content"][media].get("schema", {}), sent, where)

    def schema(self, old, new, sent, where):
        pair = (json.dumps(old, sort_keys=True), json.dumps(new, sort_keys=True), sent)
        if pair in self.seen:
            return
        self.seen.add(pair)
        old, new = self.resolved(self.old, old), self.resolved(self.new, new)
        if not self.is_same_kind(old, new, sent, where):
            return
        self.values(old, new, sent, where)
        if sent:
            self.bounds(old, new, where)
        if "items" in old:
            self.schema(old["items"], new.get("items", {}), sent, f"{where}[]")
        extra = [schema.get("additionalProperties", True) for schema in (old, new)]
        if all(isinstance(one, dict) for one in extra):
            self.schema(*extra, sent, f"{where}.*")
        elif sent and extra[1] is False and extra[0] is not False:
            self.say(where, "refuses unknown fields now")
        self.properties(old, new, sent, where)
        for word in ("oneOf", "anyOf", "allOf"):
            self.alternatives(old.get(word, []), new.get(word, []), sent, where, word)

    def is_same_kind(self, old, new, sent, where):
        before, after = types(old), types(new)
        accepted, given = (after, before) if sent else (before, after)
        if accepted and (not given or not given <= accepted):
            self.say(where, f"its type was {old.get('type', 'any')} and is {new.get('type', 'any')}")
            return False
        if old.get("format") != new.get("format"):
            self.say(where, f"its format was {old.get('format')} and is {new.get('format')}")
        return True

    def values(self, old, new, sent, where):
        before, after = ([schema["const"]] if "const" in schema else schema.get("enum") for schema in (old, new))
        accepted, given = (after, before) if sent else (before, after)
        if accepted is None:
            return
        other = "any value" if given is None else [value for value in given if value not in accepted]
        if other:
            self.say(where, f"{'refuses' if sent else 'may be'} {other} now")

    def bounds(self, old, new, where):
        for words, narrower in ((LARGER_IS_NARROWER, 1), (SMALLER_IS_NARROWER, -1)):
            for word in words:
                if word in new and (word not in old or (new[word] - old[word]) * narrower > 0):
                    self.say(where, f"{word} was {old.get(word, 'none')} and is {new[word]}")
        was, now = exact_pattern(old), exact_pattern(new)
        if now and now != was:
            self.say(where, f"pattern was {was or 'none'} and is {now}")
        if new.get("uniqueItems") and not old.get("uniqueItems"):
            self.say(where, "refuses repeated items now")

    def properties(self, old, new, sent, where):
        before, after = old.get("properties", {}), new.get("properties", {})
        needed_before, needed_after = set(old.get("required", [])), set(new.get("required", []))
        for name, schema in before.items():
            if name in after:
                self.schema(schema, after[name], sent, f"{where}.{name}")
            else:
                self.say(f"{where}.{name}", "is gone")
        for name in sorted(needed_after - needed_before if sent else (needed_before - needed_after) & set(after)):
            self.say(f"{where}.{name}", "is required now" if sent else "may be absent now")

    def alternatives(self, old, new, sent, where, word):
        def key(schema):
            return schema.get("$ref") or schema.get("title") or json.dumps(schema, sort_keys=True)

        before, after = {key(schema): schema for schema in old}, {key(schema): schema for schema in new}
        for name in before.keys() & after.keys():
            self.schema(before[name], after[name], sent, where)
        # What clients send may lose no choice, and what they receive may gain none. `allOf` adds demands instead of choices.
        changed = before.keys() - after.keys() if sent != (word == "allOf") else after.keys() - before.keys()
        for name in sorted(changed):
            self.say(where, f"{word} changes by {name.rsplit('/', 1)[-1]}")


def declared(changelog):
    """The ids of operations that lines of the changelog declare as broken, up to the first release."""
    unreleased = re.split(r"^## (?!Unreleased)", changelog, maxsplit=1, flags=re.MULTILINE)[0]
    lines = re.findall(r"^- Breaking: (.*(?:\n  .*)*)", unreleased, flags=re.MULTILINE)
    return {name for line in lines for name in re.findall(r"`([A-Za-z]+)`", line)}


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    old, new = (json.load(open(path, encoding="utf-8")) for path in arguments[:2])
    known = declared(open(arguments[2], encoding="utf-8").read()) if len(arguments) == 3 else set()
    undeclared = [(place, what) for place, what in Comparison(old, new).run() if place not in known]
    for place, what in undeclared:
        print(f"breaking: {place}: {what}", file=sys.stderr)
    if undeclared:
        print(
            "\nThese changes break clients. Keep the old shape for clients that pin an older version, or take the change back.\n"
            "Until the first release a change may be declared instead: add a line \"- Breaking: `operationId`: what changes\" to the\n"
            "part Unreleased of CHANGELOG.md. `make baseline` then makes the new document the baseline.",
            file=sys.stderr,
        )
    return 1 if undeclared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
