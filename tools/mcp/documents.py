"""Serves metadata documents of clients over https on this machine."""

import http.server
import json
import ssl
import threading
import urllib.parse


def serve(certificate, documents):
    """Serves `documents`, metadata by name, with a certificate of 127.0.0.1. Returns their addresses, which are the ids of the clients."""

    class Document(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            name = urllib.parse.unquote(self.path.removeprefix("/"))
            body = json.dumps({**documents[name], "client_id": addresses[name]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Document)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    addresses = {name: f"https://127.0.0.1:{server.server_port}/{urllib.parse.quote(name)}" for name in documents}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return addresses
