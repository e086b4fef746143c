"""A client of one version of a service."""

from __future__ import annotations

import math
import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import urlencode

from .answers import read_execution, read_executions, read_lines, read_result
from .errors import ExecutionFailed, ExecutionUnknown, OutOfTime, WaitTimeout
from .tokens import AccessKey, Tokens
from .transport import ANSWER_SECONDS, ONE_CALL, Call, Request, Response, Transport, pause_between
from .urls import check_url, guess_token_url, read_cursor, to_path
from .values import Execution, FileReference, Result, encode_start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Data = TypeVar("Data")
Params = TypeVar("Params")
Output = TypeVar("Output")

# A method is named `list`: within its class the name means nothing else.
Lines = list[dict[str, Any]]
Names = list[str]
Executions = list[Execution]

LONG_POLL_SECONDS = 30
_PAGE = 100
_FOREVER = float("inf")


class Client(Generic[Data, Params, Output]):
    """Starts executions of a service and fetches what becomes of them; threads may share it.

    What is left out comes from the environment: PLATFORM_SERVICE_ENDPOINT, PLATFORM_ACCESS_KEY_ID,
    PLATFORM_ACCESS_KEY_SECRET and PLATFORM_TOKEN_URL. Without a key, requests carry no token:
    `platform serve` needs none.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        key_id: str | None = None,
        secret: str | None = None,
        token_url: str | None = None,
        *,
        decode: Callable[[Any], Output] | None = None,
    ) -> None:
        found = endpoint or read_endpoint()
        if not found:
            raise ValueError("An endpoint is needed, or PLATFORM_SERVICE_ENDPOINT.")
        self.endpoint = check_url(found, "The endpoint")
        self._decode = decode or (lambda value: cast("Output", value))
        self._transport = Transport()
        self._tokens: Tokens | None = None
        key_id = key_id or os.environ.get("PLATFORM_ACCESS_KEY_ID")
        secret = secret or os.environ.get("PLATFORM_ACCESS_KEY_SECRET")
        if key_id and secret:
            url = (
                token_url or os.environ.get("PLATFORM_TOKEN_URL") or guess_token_url(self.endpoint)
            )
            if url is not None:
                url = check_url(url, "The token URL")
                self._tokens = Tokens(self._transport, url, AccessKey(key_id, secret))

    def use_key(self, key_id: str, secret: str) -> None:
        """Uses another key from now on, such as the one that replaces the former."""
        if self._tokens is None:
            raise ValueError("The client was made without a key.")
        self._tokens.use_key(AccessKey(key_id, secret))

    def start(
        self,
        data: Data | Mapping[str, Any] | FileReference | None = None,
        params: Params | Mapping[str, Any] | FileReference | None = None,
        *,
        more: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Execution:
        """Starts an execution, once, however often the request has to be sent.

        `more` has the other members of a start, such as `startAt` and `persistTo`.
        """
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": idempotency_key or str(uuid.uuid4()),
        }
        body = encode_start(data, params, more)
        return read_execution(self._send("POST", "/", headers, body))

    def state(self, execution_id: str) -> Execution:
        """The state at present."""
        return read_execution(self._send("GET", to_path(execution_id)))

    def wait(
        self,
        execution_id: str,
        timeout: float | None = None,
        *,
        given_up: threading.Event | None = None,
    ) -> Execution:
        """Waits until the execution has ended, however it ended.

        :param given_up: another thread sets it to end the waiting with the look that is under way
        :raises WaitTimeout: it has not ended within `timeout` seconds; it goes on
        """
        given_up = given_up or threading.Event()
        if timeout is not None and math.isnan(timeout):
            raise ValueError("The timeout has to be a number of seconds.")
        until = _FOREVER if timeout is None else time.monotonic() + timeout
        early = 1
        while True:
            began = time.monotonic()
            seconds = int(max(0, min(until - began, LONG_POLL_SECONDS)))
            prefer = {"Prefer": f"wait={seconds}"} if seconds > 0 else {}
            call = Call(seconds + ANSWER_SECONDS, until)
            try:
                response = self._send("GET", to_path(execution_id), prefer, call=call)
            except OutOfTime as error:
                raise WaitTimeout(execution_id, timeout or 0) from error
            execution = read_execution(response)
            if execution.terminal:
                return execution
            left = until - time.monotonic()
            if left <= 0:
                raise WaitTimeout(execution_id, timeout or 0)
            pause = pause_between(response, time.monotonic() - began, early)
            if given_up.wait(min(left, pause)):
                raise WaitTimeout(execution_id, timeout or 0)
            early = 1 if pause == 0 else early + 1

    def result(self, execution_id: str) -> Result[Output]:
        """The result of an execution that has ended.

        :raises ExecutionFailed: it did not succeed
        :raises ExecutionUnknown: nobody knows what became of it
        :raises RequestRefused: RESULT_NOT_READY, it has not ended yet
        """
        response = self._send("GET", to_path(execution_id, "result"))
        body, status = read_result(response)
        if status == "SUCCEEDED":
            return Result(response.content.decode(), body, self._decode)
        error = ExecutionUnknown if status == "UNKNOWN" else ExecutionFailed
        raise error(status, execution_id, body)

    def run(
        self,
        data: Data | Mapping[str, Any] | FileReference | None = None,
        params: Params | Mapping[str, Any] | FileReference | None = None,
        *,
        timeout: float | None = None,
        more: Mapping[str, Any] | None = None,
        given_up: threading.Event | None = None,
    ) -> Result[Output]:
        """Starts, waits, and fetches the result: see `start`, `wait` and `result`."""
        execution = self.start(data, params, more=more)
        if not execution.terminal:
            self.wait(execution.id, timeout, given_up=given_up)
        return self.result(execution.id)

    def cancel(self, execution_id: str) -> Execution:
        """Cancels it: what waits ends at once, what runs within seconds."""
        return read_execution(self._send("PUT", to_path(execution_id, "cancel")))

    def log(self, execution_id: str) -> Lines:
        """The lines so far, oldest first: `timestamp`, `severity`, `message`."""
        return self._collect(to_path(execution_id, "log"), {}, None, read_lines)

    def files(self, execution_id: str) -> Names:
        """Names of the files of the result."""
        return self.result(execution_id).files

    def download(self, execution_id: str, name: str) -> bytes:
        """The content of a file of the result, as a whole in memory."""
        return self._send("GET", to_path(execution_id, "result", name)).content

    def list(self, status: str | None = None, limit: int = _PAGE) -> Executions:
        """The newest executions of the subscription, at most `limit`."""
        query = {"limit": str(min(limit, _PAGE)), **({"status": status} if status else {})}
        found = self._collect("/", query, limit, read_executions)
        return [Execution.from_dict(raw) for raw in found]

    def close(self) -> None:
        """Closes the connections that no request uses."""
        self._transport.close()

    def __enter__(self) -> Client[Data, Params, Output]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _collect(
        self,
        path: str,
        query: dict[str, str],
        limit: int | None,
        read_page: Callable[[Response], Lines],
    ) -> Lines:
        """The items of all pages; of a link only the cursor, so that the token stays here."""
        items: Lines = []
        while True:
            text = urlencode(query)
            response = self._send("GET", f"{path}{'?' + text if text else ''}")
            page = read_page(response)
            items += page
            cursor = read_cursor(response.headers.get("link", ""))
            if not page or cursor is None or (limit is not None and len(items) >= limit):
                return items[:limit]
            if cursor == query.get("cursor"):
                raise response.misread("the page that was asked for")
            query = {**query, "cursor": cursor}

    def _send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        call: Call = ONE_CALL,
    ) -> Response:
        tries = 2
        while True:
            tries -= 1
            sent = {"Accept": "application/json, */*;q=0.5", **(headers or {})}
            token = None if self._tokens is None else self._tokens.get(call.until)
            if token is not None:
                sent["Authorization"] = f"Bearer {token}"
            url = f"{self.endpoint}{path}"
            response = self._transport.send(Request(method, url, sent, body, call))
            if response.status < 300:
                return response
            if response.status != 401 or self._tokens is None or token is None or tries == 0:
                raise response.refuse()
            self._tokens.drop(token)


def read_endpoint() -> str | None:
    """The endpoint that the environment names."""
    return os.environ.get("PLATFORM_SERVICE_ENDPOINT")
