"""A server that answers as a test tells it, and notes what it was asked."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What is answered; `status` 0 closes the connection instead."""

    status: int = 200
    body: Any = None
    """Written as JSON; bytes are sent as they are."""
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Barrier | None = None
    """Given once so many requests wait; then the connection is closed without a word."""
    drip: float = 0
    """Seconds before each byte of the body."""


class ScriptedServer:
    """Takes the answers in their order, the last one again and again; tokens are answered apart."""

    def __init__(self, *answers: Answer, lifetime: Any = 3600, token: Answer | None = None) -> None:
        self.asked: list[Asked] = []
        self.tokens = 0
        self._answers = list(answers)
        self._lifetime = lifetime
        self._token = token
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._create_handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def endpoint(self) -> str:
        """Endpoint URL of a version."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/key/name/1.0.0"

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        """The next answer."""
        with self._lock:
            if asked.path == "/token":
                self.tokens += 1
                token = {"access_token": f"token-{self.tokens}", "expires_in": self._lifetime}
                return self._token or Answer(body=token)
            self.asked.append(asked)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def _create_handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(length))
                answer = server.answer(asked)
                if answer.status == 0:
                    self.close_connection = True
                    return
                if answer.gate is not None:
                    answer.gate.wait(30)
                    self.close_connection = True
                body = answer.body
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if answer.drip:
                    self.drip(content, answer.drip)
                else:
                    self.wfile.write(content)

            def drip(self, content: bytes, seconds: float) -> None:
                with suppress(ConnectionError):
                    for at in range(len(content)):
                        time.sleep(seconds)
                        self.wfile.write(content[at : at + 1])

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_: object) -> None:
                pass

        return Handler
