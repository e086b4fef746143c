"""A server that answers as a test tells it, and notes what it was asked."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """`status` 0 closes the connection instead; `seconds` pass before it."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0


class ScriptedServer:
    """Takes the answers of a route in their order, the last one again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._answers: dict[str, list[Answer]] = defaultdict(list)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._create_handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def on(self, route: str, *answers: Answer) -> None:
        """`GET /quantum/backends`: what is answered there, whatever the query."""
        self._answers[route] = list(answers)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        route = f"{asked.method} {asked.path.partition('?')[0]}"
        with self._lock:
            self.asked.append(asked)
            answers = self._answers.get(route)
            if not answers:
                return Answer(404, {"code": "NOT_FOUND", "detail": f"no answer to {route}"})
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def _create_handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(content) if content else None
                answer = server.answer(Asked(self.command, self.path, headers, body))
                if answer.seconds:
                    threading.Event().wait(answer.seconds)
                if answer.status == 0:
                    self.close_connection = True
                    return
                text = b"" if answer.body is None else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(text)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        return Handler
