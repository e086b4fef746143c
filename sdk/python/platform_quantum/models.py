"""What the platform says of backends and jobs, read leniently: it may say more some day."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

FINAL_STATES = ("COMPLETED", "FAILED", "CANCELLED", "ABORTED")


@dataclass(frozen=True)
class BackendInfo:
    """A backend. `raw` has all that the platform said, also what this SDK does not know."""

    id: str
    type: str
    """QPU, SIMULATOR or ANNEALER."""
    status: str
    """ONLINE, PAUSED or OFFLINE."""
    display_name: str
    provider: str | None
    technology: str | None
    queue_size: int | None
    """Jobs that wait."""
    dry_run: bool
    """Whether it answers `estimate`."""
    configuration: dict[str, Any] = field(repr=False)
    raw: dict[str, Any] = field(repr=False)

    @staticmethod
    def from_dict(raw: dict[str, Any]) -> BackendInfo:
        """Reads an entry of the list of backends."""
        return BackendInfo(
            id=read_text(raw, "id"),
            type=raw.get("type") or "SIMULATOR",
            status=raw.get("status") or "UNKNOWN",
            display_name=raw.get("display_name") or raw["id"],
            provider=raw.get("provider"),
            technology=raw.get("technology"),
            queue_size=raw.get("queue_size"),
            dry_run=raw.get("dry_run") is True,
            configuration=read_object(raw.get("configuration") or {}),
            raw=raw,
        )

    @property
    def qubit_count(self) -> int | None:
        """How many qubits it has; None where that means nothing."""
        count: int | None = self.configuration.get("qubit_count")
        return count

    @property
    def formats(self) -> list[str]:
        """The formats of circuits that it reads."""
        formats: list[str] = self.configuration.get("supported_input_formats") or []
        return formats


@dataclass(frozen=True)
class Failure:
    """Why a job has ended without a result."""

    code: str
    detail: str


@dataclass(frozen=True)
class LogLine:
    """A line of the log of a job."""

    timestamp: str
    severity: str
    message: str


@dataclass(frozen=True)
class JobInfo:
    """State of a job. `raw` has all that the platform said."""

    id: str
    backend_id: str
    status: str
    shots: int | None
    name: str | None
    tags: list[str]
    created_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    queue_position: int | None
    """Jobs before it; None: it does not wait, or it is not known."""
    estimated_start: datetime | None
    """When it is likely to begin; None: it does not wait, or too little is known."""
    failure: Failure | None
    raw: dict[str, Any] = field(repr=False)

    @staticmethod
    def from_dict(raw: dict[str, Any]) -> JobInfo:
        """Reads a job as the platform shows it."""
        return JobInfo(
            id=read_text(raw, "id"),
            backend_id=raw.get("backend_id") or "",
            status=raw.get("status") or "UNKNOWN",
            shots=raw.get("shots"),
            name=raw.get("name"),
            tags=list(raw.get("tags") or []),
            created_at=_read_time(raw.get("created_at")),
            started_at=_read_time(raw.get("started_at")),
            ended_at=_read_time(raw.get("ended_at")),
            queue_position=raw.get("queue_position"),
            estimated_start=_read_time(raw.get("estimated_start")),
            failure=read_failure(raw.get("error")),
            raw=raw,
        )

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self.status in FINAL_STATES


def read_object(raw: Any) -> dict[str, Any]:
    """The same.

    :raises TypeError: it is no object
    """
    if not isinstance(raw, dict):
        raise TypeError("it is no object")
    return raw


def read_list(raw: Any) -> list[Any]:
    """The same.

    :raises TypeError: it is no list
    """
    if not isinstance(raw, list):
        raise TypeError("it is no list")
    return raw


def read_text(raw: dict[str, Any], name: str) -> str:
    """A member that every such object has.

    :raises KeyError: there is none
    :raises TypeError: it is no text
    """
    text = read_object(raw)[name]
    if not isinstance(text, str):
        raise TypeError(f"{name} is no text")
    return text


def read_failure(raw: Any) -> Failure | None:
    """Code and detail, where there are some."""
    if not isinstance(raw, dict) or not raw.get("code"):
        return None
    return Failure(str(raw["code"]), str(raw.get("detail") or ""))


def _read_time(text: str | None) -> datetime | None:
    """`YYYY-MM-DD HH:MM:SS`, in UTC."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
