"""What can go wrong, each with what a caller needs to decide."""

from __future__ import annotations

from typing import Any


def _read_text(body: dict[str, Any], *names: str) -> str:
    """The first of these members that is a text; what a proxy says may be anything."""
    found = (body.get(name) for name in names)
    return next((text for text in found if isinstance(text, str) and text), "")


class ClientError(Exception):
    """Base of all errors of this client."""


class _NotSucceeded(ClientError):
    def __init__(self, status: str, execution_id: str, body: dict[str, Any]) -> None:
        code = _read_text(body, "code") or status
        detail = _read_text(body, "detail")
        super().__init__(f"{code}: {detail} (execution {execution_id})")
        self.code = code
        self.detail = detail
        self.id = execution_id
        self.body = body
        """The whole answer, with the last checkpoint as `result` where `partial` is true."""


class ExecutionFailed(_NotSucceeded):
    """It raised, exceeded a limit, was cancelled or could not start: it did not succeed."""


class ExecutionUnknown(_NotSucceeded):
    """The worker was lost while the code may have been running: nobody can say what it did."""


class RequestRefused(ClientError):
    """The server refused a request, and asking again as it is would not help.

    Also, with a `status` of 2xx, an answer that is not that of a service.
    """

    def __init__(self, status: int, body: dict[str, Any], request_id: str | None) -> None:
        # The token endpoint answers in the form of OAuth.
        self.code = _read_text(body, "code", "error") or f"HTTP_{status}"
        self.detail = _read_text(body, "detail", "error_description")
        super().__init__(f"{status} {self.code}: {self.detail} (request {request_id})")
        self.status = status
        errors = body.get("errors")
        self.errors: list[dict[str, Any]] = errors if isinstance(errors, list) else []
        self.request_id = request_id
        self.body = body


class WaitTimeout(ClientError):
    """The waiting has ended, not the execution."""

    def __init__(self, execution_id: str, seconds: float) -> None:
        super().__init__(
            f"Execution {execution_id} has not ended within {seconds:g} s. It goes on: "
            "wait again, ask for its result later, or cancel it."
        )
        self.id = execution_id


class OutOfTime(ClientError):
    """The caller waits no longer, and the server gave no answer so far; `__cause__` says why."""


class ServerUnreachable(ClientError):
    """No answer came, however often it was tried; `__cause__` is the last failure."""
