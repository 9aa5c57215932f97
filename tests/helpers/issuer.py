"""An OpenID Connect issuer for tests: people log in by a click, without a password."""

import base64
import json
import secrets
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "advisor-under-test"
SECRET = "a client secret for tests alone"
PEOPLE = ("robin", "kim")
METADATA = "/.well-known/openid-configuration"


class Issuer(ThreadingHTTPServer):
    """Issuer that listens on a free port of loopback.

    Attributes:
        address: address of the issuer, as in its tokens.
        key: key that signs the tokens.
        granted: person and nonce by code, until the code is used.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.key = RSAKey.generate_key(2048, auto_kid=True)
        self.granted = {}

    def secrets_toml(self, app):
        """Streamlit's secrets for an app at an address."""
        return (
            f'[auth]\nredirect_uri = "{app}/oauth2callback"\n'
            f'cookie_secret = "{secrets.token_urlsafe(32)}"\nclient_id = "{CLIENT}"\n'
            f'client_secret = "{SECRET}"\nserver_metadata_url = "{self.address}{METADATA}"\n'
        )

    def token(self, code):
        """The answer to a code, which works once."""
        person, nonce = self.granted.pop(code)
        now = int(time.time())
        claims = {
            "iss": self.address, "sub": person, "aud": CLIENT, "name": person.title(),
            "nonce": nonce, "iat": now, "exp": now + 600,
        }  # fmt: skip
        header = {"alg": "RS256", "kid": self.key.kid}
        return {
            "access_token": secrets.token_urlsafe(),
            "token_type": "Bearer",
            "expires_in": 600,
            "id_token": jwt.encode(header, claims, self.key),
        }


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        issuer = self.server
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == METADATA:
            self._json(_metadata(issuer.address))
        elif url.path == "/jwks":
            self._json({"keys": [issuer.key.as_dict(private=False)]})
        elif url.path == "/authorize" and query.get("client_id") == CLIENT:
            self._html("".join(self._link(person, query) for person in PEOPLE))
        else:
            self.send_error(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        known = self.headers.get("Authorization") == f"Basic {basic}"
        if self.path == "/token" and known and form.get("code") in self.server.granted:
            self._json(self.server.token(form["code"]))
        else:
            self.send_error(401)

    def _link(self, person, query):
        code = secrets.token_urlsafe()
        self.server.granted[code] = (person, query.get("nonce"))
        back = urlencode({"code": code, "state": query["state"]})
        return f'<p><a href="{query["redirect_uri"]}?{back}">{person}</a></p>'

    def _json(self, answer):
        self._answer("application/json", json.dumps(answer))

    def _html(self, body):
        icon = '<link rel="icon" href="data:,">'
        self._answer("text/html", f"<!DOCTYPE html><title>Issuer</title>{icon}{body}")

    def _answer(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """No log: the tests report failures."""


def _metadata(address):
    return {
        "issuer": address,
        "authorization_endpoint": f"{address}/authorize",
        "token_endpoint": f"{address}/token",
        "jwks_uri": f"{address}/jwks",
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


@contextmanager
def issuer():
    """An issuer that ends with the block."""
    running = Issuer()
    Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield running
    finally:
        running.shutdown()
        running.server_close()
