"""Requests to a platform: no redirect is followed, and what could not be sent is tried again.

urllib would carry the token along to wherever a redirect leads; here an answer of 3xx is an error.
"""

from __future__ import annotations

import http.client
import json
import logging
import random
import ssl
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import URLError
from urllib.parse import urlsplit

from . import __version__
from .credentials import is_loopback
from .encode import encode_body, encode_query
from .errors import (
    ApiError,
    BackendNotFoundError,
    InvalidAccessTokenError,
    ServerUnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .credentials import Credentials

ANSWER_SECONDS = 60.0
PATIENCE_SECONDS = 30.0
"""For how long a request is tried again, from its first failure on."""
_GRACE_SECONDS = 5.0
_SHORTEST_PAUSE = 0.2
_LONGEST_PAUSE = 3.0
_MAX_ANSWER_BYTES = 512 * 1024 * 1024
_MAX_DETAIL = 2000
_FINAL_CODES = ("BACKEND_OFFLINE", "QUOTA_EXCEEDED")
"""Of 503 and 429: the same request would be refused for longer than anybody waits."""
FOREVER = float("inf")

T = TypeVar("T")

logger = logging.getLogger("platform_quantum")


class OutOfTime(Exception):
    """The caller waits no longer, and no answer came so far."""


@dataclass(frozen=True)
class Request:
    """One request; it has to be safe to send it again."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    """Members that are None are left out; a list is repeated."""
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    until: float = FOREVER
    """In seconds of the monotonic clock: then it is not tried again."""


@dataclass(frozen=True)
class Answer:
    """An answer that was read to its end."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    def read_json(self, build: Callable[[Any], T]) -> T:
        """What is made of the parsed body.

        :raises ApiError: INVALID_ANSWER: it is not JSON, or nothing that a platform says
        """
        try:
            parsed = json.loads(self.content)
        except (ValueError, RecursionError):
            raise self._refuse("The answer is not JSON.") from None
        try:
            return build(parsed)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._refuse("The answer is none of the quantum API.") from None

    def _refuse(self, what: str) -> ApiError:
        detail = f"{what} Is the endpoint that of the platform API?"
        return ApiError(self.status, "INVALID_ANSWER", detail)


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Hands on every answer, so that none is followed and none becomes an exception."""

    def http_response(self, _request: Any, response: Any) -> Any:
        return response

    def https_response(self, _request: Any, response: Any) -> Any:
        return response


class HttpClient:
    """Sends requests with one token to one platform; threads may share it."""

    def __init__(self, credentials: Credentials, patience: float = PATIENCE_SECONDS) -> None:
        self._credentials = credentials
        self._patience = patience
        direct = is_loopback(urlsplit(credentials.endpoint).hostname or "")
        proxies = urllib.request.ProxyHandler({} if direct else None)
        context = ssl.create_default_context()
        https = urllib.request.HTTPSHandler(context=context)
        self._opener = urllib.request.build_opener(_AsItIs, proxies, https)

    def __repr__(self) -> str:
        return f"HttpClient({self._credentials.endpoint!r})"

    def __deepcopy__(self, _memo: dict[int, Any]) -> HttpClient:
        # PennyLane and primitives of others copy backends; connections cannot be copied.
        return self

    def send(self, request: Request) -> Answer:
        """The answer, whose status is below 300.

        :raises ApiError: the platform refused it
        :raises ServerUnreachableError: no answer came within 30 s after the first failure
        :raises OutOfTime: `until` has come
        """
        give_up = FOREVER
        attempt = 0
        while True:
            attempt += 1
            failure: Exception
            asked = None
            try:
                answer = self._send_once(request)
                if answer.status < 300:
                    return answer
                failure = self._refuse(answer)
                if not _is_passing(answer, failure):
                    raise failure
                asked = _read_seconds(answer.headers.get("retry-after"))
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, URLError) and isinstance(
                    error.reason, ssl.SSLCertVerificationError
                ):
                    raise self._lose(request, error) from error
                failure = error
            is_first = give_up == FOREVER
            if is_first:
                give_up = time.monotonic() + self._patience
            pause = asked or _pause_before(attempt)
            self._require_time(request, pause, give_up, failure)
            if is_first:
                logger.warning(
                    "%s %s: %s; trying again for %g s",
                    request.method,
                    request.path,
                    _describe(failure),
                    self._patience,
                )
            time.sleep(pause)

    def _require_time(
        self, request: Request, pause: float, give_up: float, failure: Exception
    ) -> None:
        then = time.monotonic() + pause
        if then > request.until:
            raise OutOfTime from failure
        if then > give_up:
            if isinstance(failure, ApiError):
                raise failure
            raise self._lose(request, failure) from failure

    def _send_once(self, request: Request) -> Answer:
        credentials = self._credentials
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {credentials.token}",
            "User-Agent": f"platform-quantum/{__version__}",
            **request.headers,
        }
        if credentials.organization_id is not None:
            headers["X-OrganizationId"] = credentials.organization_id
        content = None
        if request.body is not None:
            content = encode_body(request.body)
            headers["Content-Type"] = "application/json"
        url = f"{credentials.endpoint}{request.path}{encode_query(request.query)}"
        prepared = urllib.request.Request(url, content, headers, method=request.method)
        left = max(request.until - time.monotonic(), 0) + _GRACE_SECONDS
        with self._opener.open(prepared, timeout=min(ANSWER_SECONDS, left)) as response:
            read = response.read(_MAX_ANSWER_BYTES + 1)
            names = {name.lower(): value for name, value in response.headers.items()}
            status = response.status
        if len(read) > _MAX_ANSWER_BYTES:
            detail = f"The answer has more than {_MAX_ANSWER_BYTES} bytes."
            raise ApiError(status, "ANSWER_TOO_LARGE", detail)
        return Answer(status, names, read)

    def _refuse(self, answer: Answer) -> ApiError:
        status, request_id = answer.status, answer.headers.get("x-request-id")
        if status < 400:
            detail = (
                f"{self._credentials.endpoint} redirects elsewhere, and the token is not sent "
                "there. Set the endpoint to where the platform is."
            )
            return ApiError(status, "REDIRECTED", detail, request_id)
        try:
            body = json.loads(answer.content)
        except (ValueError, RecursionError):
            body = None
        known = body if isinstance(body, dict) else {}
        code = str(known.get("code") or f"HTTP_{status}")
        # A server that repeats the token in its answer does not get it into a log here.
        detail = _read_detail(known).replace(self._credentials.token, "***")
        kind = InvalidAccessTokenError if status == 401 else ApiError
        if code == "BACKEND_NOT_FOUND":
            kind = BackendNotFoundError
        return kind(status, code, detail, request_id)

    def _lose(self, request: Request, cause: Exception) -> ServerUnreachableError:
        return ServerUnreachableError(
            f"{self._credentials.endpoint} gave no answer to {request.method} {request.path}: "
            f"{_describe(cause)}"
        )


def _is_passing(answer: Answer, refusal: ApiError) -> bool:
    if refusal.code in _FINAL_CODES:
        return False
    return answer.status == 503 or (answer.status == 429 and "retry-after" in answer.headers)


def _read_detail(body: dict[str, Any]) -> str:
    detail = str(body.get("detail") or body.get("error") or "The platform gave no reason.")
    errors = body.get("errors")
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict) and "path" in error:
            reason = error.get("message") or error.get("detail") or ""
            detail += f" [{error['path']}: {reason}]" if reason else f" [{error['path']}]"
    return detail[:_MAX_DETAIL]


def _read_seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


def _pause_before(attempt: int) -> float:
    """Seconds before the next try: rising, and different for each client."""
    longest: float = min(_SHORTEST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1.0)


def _describe(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    text = str(reason)
    return f"{type(reason).__name__}: {text}" if isinstance(reason, Exception) else text
