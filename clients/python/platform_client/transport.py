"""Requests over connections that are kept, tried again while that can help."""

from __future__ import annotations

import http.client
import json
import random
import re
import selectors
import socket
import ssl
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .errors import OutOfTime, RequestRefused, ServerUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = "0.1.0"
TRIES = 5
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
GRACE_SECONDS = 5.0
SHORTEST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
PATIENCE = 60.0
"""A longer `Retry-After` is left to the caller; between looks at a state it is cut to this."""
_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")
_CHECK = "check the URL, and whether a proxy or a login page answers in its place"


@dataclass(frozen=True)
class Call:
    """How long a caller waits for an answer."""

    answer_seconds: float = ANSWER_SECONDS
    until: float = float("inf")
    """In seconds of the monotonic clock: then it is not tried again."""


ONE_CALL = Call()


@dataclass(frozen=True)
class Request:
    """One request; it has to be safe to send it again."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Not shown: one has the token, or the key."""
    body: bytes | None = field(default=None, repr=False)
    call: Call = ONE_CALL


@dataclass(frozen=True)
class Response:
    """An answer that was read to its end."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    def read_json(self) -> Any:
        """The parsed body; None, where it is no JSON."""
        try:
            return json.loads(self.content.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return None

    def read_retry_after(self) -> float | None:
        """Seconds of `Retry-After`, if it has what RFC 9110 allows: digits, or a date."""
        text = self.headers.get("retry-after", "").strip()
        if text.isascii() and text.isdecimal():
            return float(text)
        if _DATE.fullmatch(text) is None:
            return None
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
        except ValueError:
            return None

    def refuse(self) -> RequestRefused:
        """The error that says what the server says; of a redirect, that it is not followed."""
        body = self.read_json()
        known = body if isinstance(body, dict) else {}
        if 300 <= self.status < 400:
            known = {**known, "detail": self._describe_redirect()}
        return RequestRefused(self.status, known, self.headers.get("x-request-id"))

    def misread(self, wanted: str) -> RequestRefused:
        """The error of an answer that is something else; it may be secret, so it is not shown."""
        detail = f"The answer is not {wanted}: {_CHECK}."
        return RequestRefused(self.status, {"detail": detail}, self.headers.get("x-request-id"))

    def _describe_redirect(self) -> str:
        to = self.headers.get("location", "an address that is not told")
        return (
            f"The server redirects to {to}. It is not followed, since the token is for this server "
            "alone: give the client the endpoint URL of the subscription, or where it has moved to."
        )


def pause_before(attempt: int) -> float:
    """Seconds before the try with this number, from 1: rising, and different for each client."""
    longest: float = min(SHORTEST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1.0)


def pause_between(response: Response, took: float, attempt: int) -> float:
    """Seconds until the next look at a state, bounded whatever a faulty server or proxy asks for.

    0: the server has waited itself, as the time shows that its answer took.
    """
    if "wait" in response.headers.get("preference-applied", ""):
        return 0.0 if took >= SHORTEST_PAUSE else pause_before(attempt)
    asked = response.read_retry_after()
    return pause_before(attempt) if asked is None else min(max(asked, SHORTEST_PAUSE), PATIENCE)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _rest(seconds: float, request: Request, cause: Exception) -> None:
    if time.monotonic() + seconds > request.call.until:
        raise OutOfTime(str(cause)) from cause
    time.sleep(seconds)


@contextmanager
def _ended_after(seconds: float, sock: socket.socket) -> Iterator[None]:
    """Ends a connection then, whose own time-out begins anew with each byte that comes."""

    def end() -> None:
        with suppress(OSError):
            # Not that of TLS, which belongs to the thread that reads.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    if seconds == float("inf"):
        yield
        return
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether something came where nothing was asked for: the end of the connection."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


class Transport:
    """Keeps connections, one for each request that is under way at the same time."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str], list[http.client.HTTPConnection]] = {}
        self._lock = threading.Lock()
        self._tls = ssl.create_default_context()

    def send(self, request: Request) -> Response:
        """Sends until an answer comes that is neither 429 nor 503, at most five times.

        :raises RequestRefused: 429 or 503, at last or for longer than a minute
        :raises ServerUnreachable: no answer
        :raises OutOfTime: the caller waits no longer
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._send_once(request)
            except ssl.SSLCertVerificationError as error:
                raise ServerUnreachable(f"{request.url}: {error}") from error
            except (OSError, http.client.HTTPException) as error:
                if attempt == TRIES:
                    raise ServerUnreachable(f"{request.url}: {error!r}") from error
                _rest(pause_before(attempt), request, error)
                continue
            if response.status not in (429, 503):
                return response
            asked = response.read_retry_after()
            if attempt == TRIES or (asked or 0) > PATIENCE:
                raise response.refuse()
            pause = pause_before(attempt) if asked is None else asked + random.uniform(0, 0.2)
            _rest(pause, request, response.refuse())

    def close(self) -> None:
        """Closes the connections that no request uses."""
        with self._lock:
            kept = [one for connections in self._idle.values() for one in connections]
            self._idle.clear()
        for connection in kept:
            connection.close()

    def _send_once(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        origin = (parts.scheme, parts.netloc)
        connection = self._take(origin)
        is_kept = connection.sock is not None
        try:
            target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
            headers = {"User-Agent": f"platform-client-python/{VERSION}", **request.headers}
            left = max(request.call.until - time.monotonic(), 0) + GRACE_SECONDS
            if connection.sock is None:
                connection.timeout = min(CONNECT_SECONDS, left)
                connection.connect()
            connection.sock.settimeout(min(request.call.answer_seconds, left))
            with _ended_after(left, connection.sock):
                connection.request(request.method, target, request.body, headers)
                answer = connection.getresponse()
                content = answer.read()
        except BaseException:
            connection.close()
            if is_kept:
                # The others are as old: trying one after the other would use up all tries.
                self.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.setdefault(origin, []).append(connection)
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, names, content)

    def _take(self, origin: tuple[str, str]) -> http.client.HTTPConnection:
        with self._lock:
            kept = self._idle.get(origin, [])
            while kept:
                connection = kept.pop()
                if not _has_ended(connection):
                    return connection
                connection.close()
        scheme, address = origin
        if scheme == "https":
            return http.client.HTTPSConnection(address, timeout=CONNECT_SECONDS, context=self._tls)
        return http.client.HTTPConnection(address, timeout=CONNECT_SECONDS)
