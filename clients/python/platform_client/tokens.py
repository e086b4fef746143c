"""The access token: fetched once, shared, renewed before it expires."""

from __future__ import annotations

import re
import threading
import time
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import OutOfTime
from .transport import GRACE_SECONDS, Call, Request

if TYPE_CHECKING:
    from .transport import Transport

RENEWED_BEFORE = 60.0
_YEAR = 365 * 86_400.0
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True)
class AccessKey:
    """What an application proves itself with."""

    key_id: str
    secret: str = field(repr=False)


class Tokens:
    """Gives the access token of an application; concurrent callers wait for one request."""

    def __init__(self, transport: Transport, url: str, key: AccessKey) -> None:
        self._transport = transport
        self._url = url
        self._key = key
        self._lock = threading.Lock()
        self._token: str | None = None
        self._renew_at = 0.0

    def get(self, until: float = float("inf")) -> str:
        """The token; where there is none, or where it is about to expire, a new one.

        :raises RequestRefused: the key is not accepted
        :raises OutOfTime: the caller waits no longer than `until`
        """
        left = min(max(until - time.monotonic(), 0) + GRACE_SECONDS, threading.TIMEOUT_MAX)
        if not self._lock.acquire(timeout=left):
            raise OutOfTime("another caller is still asking for the token")
        try:
            if self._token is None or time.monotonic() >= self._renew_at:
                self._token = self._fetch(until)
            return self._token
        finally:
            self._lock.release()

    def drop(self, token: str) -> None:
        """Forgets a token that was refused, unless another caller has replaced it already."""
        with self._lock:
            if self._token == token:
                self._token = None

    def use_key(self, key: AccessKey) -> None:
        """Uses another key from now on."""
        with self._lock:
            self._key = key
            self._token = None

    def _fetch(self, until: float) -> str:
        # RFC 6749, section 2.3.1: both are encoded before they are joined.
        pair = f"{quote(self._key.key_id, '')}:{quote(self._key.secret, '')}"
        headers = {
            "Authorization": f"Basic {b64encode(pair.encode()).decode()}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        body = b"grant_type=client_credentials"
        response = self._transport.send(
            Request("POST", self._url, headers, body, Call(until=until))
        )
        if response.status != 200:
            raise response.refuse()
        answer = response.read_json()
        token = answer.get("access_token") if isinstance(answer, dict) else None
        # As RFC 6750 has it; anything else could not be sent, and would be shown by what says so.
        if not isinstance(token, str) or _TOKEN.fullmatch(token) is None:
            raise response.misread("an access token")
        lifetime = _read_lifetime(answer.get("expires_in"))
        self._renew_at = time.monotonic() + lifetime - min(RENEWED_BEFORE, lifetime / 2)
        return token


def _read_lifetime(seconds: Any) -> float:
    """Seconds, at most a year; 0, where the server does not say: then each request has its own."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return float(min(max(seconds, 0), _YEAR)) if is_number else 0.0
