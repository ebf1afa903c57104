"""A provider of OpenID Connect on a port of its own: discovery, keys, code for token."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

_KEY = RSAKey.generate_key(2048, {"kid": "k1"})
CLIENT, SECRET = "goclaw", "not-told-to-anybody"


class Provider:
    """Signs whatever `claims` say; `spoil` changes what a right token would hold."""

    def __init__(self) -> None:
        self.key = _KEY
        self.claims: dict[str, Any] = {"sub": "s-1", "preferred_username": "ann", "name": "Ann"}
        self.spoil: dict[str, Any] = {}
        self.signing = self.key
        self.nonces: dict[str, str] = {}
        self.asked: list[dict[str, list[str]]] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages = {
                    "/.well-known/openid-configuration": provider.discovery,
                    "/keys": lambda: {
                        "keys": [provider.key.as_dict(private=False, use="sig", alg="RS256")]
                    },
                }
                self._say(pages[urlsplit(self.path).path]())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.asked.append(parse_qs(body))
                self._say(provider.token(parse_qs(body)["code"][0]))

            def _say(self, value: Any) -> None:
                text = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        serve = self.server.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def agree(self, address: str) -> str:
        """Do what a browser and a person do at the provider; return the way back."""
        asked = parse_qs(urlsplit(address).query)
        self.nonces["code"] = asked["nonce"][0]
        assert asked["code_challenge_method"] == ["S256"]
        way_back = {"code": "code", "state": asked["state"][0]}
        return f"{asked['redirect_uri'][0]}?{urlencode(way_back)}"

    def token(self, code: str) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60,
            "nonce": self.nonces.get(code, ""), **self.claims, **self.spoil,
        }  # fmt: skip
        id_token = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.signing)
        return {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": id_token}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
