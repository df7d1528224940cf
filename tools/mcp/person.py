"""A person at the pages of sign-in and consent.

usage: person.py ADDRESS
Opens ADDRESS, which a client would open in a browser. Signs in as the demo owner and allows what is asked. Prints the address that leads
back to the client, and does not open it.
"""

import html.parser
import http.cookiejar
import sys
import urllib.error
import urllib.parse
import urllib.request

# The buttons that the person presses, where a page has them.
PRESSED = [("person", "owner"), ("decision", "allow")]
MAX_PAGES = 10


class Page(html.parser.HTMLParser):
    """The text of a page, and its forms: where each leads, its hidden fields, its buttons, and the last of each choice, which is the widest."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.words, self.tag = [], [], ""
        self.feed(text)

    def __str__(self):
        return " ".join(self.words)

    def handle_data(self, data):
        if self.tag not in ("style", "script"):
            self.words += data.split()

    def handle_starttag(self, tag, attributes):
        self.tag, attributes = tag, dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "fields": [], "choices": {}, "buttons": []})
        elif tag == "input" and self.forms and attributes.get("type") == "hidden":
            self.forms[-1]["fields"].append((attributes["name"], attributes["value"]))
        elif tag == "input" and self.forms and attributes.get("type") == "radio":
            self.forms[-1]["choices"][attributes["name"]] = attributes["value"]
        elif tag == "button" and self.forms:
            self.forms[-1]["buttons"].append((attributes.get("name"), attributes.get("value")))


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    """Hands redirects out instead of following them."""

    def redirect_request(self, *_):
        return None


def press(page, address):
    """Returns the address of the form with a button that the person presses, and what the form sends."""
    for button in PRESSED:
        for form in page.forms:
            if button in form["buttons"]:
                sent = urllib.parse.urlencode([*form["fields"], *form["choices"].items(), button]).encode()
                return urllib.parse.urljoin(address, form["action"]), sent
    sys.exit(f"person: {address} shows no button to sign in or to allow: {page}")


def walk(address):
    """Goes from page to page until one leads to another server. Returns that address."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(cookies, KeepRedirects)
    server, sent = urllib.parse.urlsplit(address).netloc, None
    for _ in range(MAX_PAGES):
        try:
            with browser.open(address, sent, timeout=30) as answer:
                address, sent = press(Page(answer.read().decode()), address)
        except urllib.error.HTTPError as answer:
            if not 300 <= answer.code < 400:
                sys.exit(f"person: {address} answered {answer.code}: {Page(answer.read().decode())}")
            address, sent = urllib.parse.urljoin(address, answer.headers["location"]), None
            if urllib.parse.urlsplit(address).netloc != server:
                return address
    sys.exit(f"person: still at {address} after {MAX_PAGES} pages")


print(walk(sys.argv[1]))
