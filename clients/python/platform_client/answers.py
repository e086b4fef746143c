"""What answers have to be: a login page or a wrong URL may answer in place of a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import Execution

if TYPE_CHECKING:
    from .transport import Response

_TEXTS = ("id", "status", "createdAt")
_TIMES = ("startedAt", "endedAt")


def read_execution(response: Response) -> Execution:
    """The state of an execution.

    :raises RequestRefused: the answer is none
    """
    raw = response.read_json()
    if not _is_execution(raw):
        raise response.misread("the state of an execution")
    return Execution.from_dict(raw)


def read_result(response: Response) -> tuple[dict[str, Any], str]:
    """The result of an execution that has ended, and its state.

    :raises RequestRefused: the answer is none
    """
    body = response.read_json()
    embedded = body.get("_embedded") if isinstance(body, dict) else None
    record = embedded.get("status") if isinstance(embedded, dict) else None
    status = record.get("status") if isinstance(record, dict) else None
    if not isinstance(status, str):
        raise response.misread("the result of an execution")
    return body, status


def read_executions(response: Response) -> list[dict[str, Any]]:
    """A page of executions.

    :raises RequestRefused: the answer is none
    """
    page = response.read_json()
    if not isinstance(page, list) or not all(_is_execution(one) for one in page):
        raise response.misread("a list of executions")
    return page


def read_lines(response: Response) -> list[dict[str, Any]]:
    """A page of a log.

    :raises RequestRefused: the answer is none
    """
    page = response.read_json()
    if not isinstance(page, list) or not all(isinstance(one, dict) for one in page):
        raise response.misread("the log of an execution")
    return page


def _is_execution(raw: Any) -> bool:
    return (
        isinstance(raw, dict)
        and all(isinstance(raw.get(name), str) for name in _TEXTS)
        and all(isinstance(raw.get(name), str | None) for name in _TIMES)
        and isinstance(raw.get("terminal"), bool)
    )
