"""What goes in and comes out: references, executions, results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Output = TypeVar("Output")

_LOCAL = ("_links", "_embedded")


@dataclass(frozen=True)
class FileReference:
    """A JSON file of a data pool, or a part of it, in place of `data` or `params`."""

    data_pool_id: str
    data_source_descriptor_id: str
    file_id: str
    pointer: str | None = None
    """JSON Pointer (RFC 6901) of the object in the file; None: the whole file."""

    def to_dict(self) -> dict[str, str]:
        """The reference as on the wire."""
        ids = {
            "dataPoolId": self.data_pool_id,
            "dataSourceDescriptorId": self.data_source_descriptor_id,
            "fileId": self.file_id,
        }
        return ids if self.pointer is None else {**ids, "pointer": self.pointer}


@dataclass(frozen=True)
class Execution:
    """State of an execution. Times are UTC, `YYYY-MM-DD HH:MM:SS`."""

    id: str
    status: str
    terminal: bool
    """Whether the state is final: the only thing to ask, since states may be added."""
    created_at: str
    started_at: str | None
    ended_at: str | None
    raw: dict[str, Any]
    """All that the server said, also what this client does not know."""

    @staticmethod
    def from_dict(raw: dict[str, Any]) -> Execution:
        """Reads a status record."""
        return Execution(
            id=raw["id"],
            status=raw["status"],
            terminal=raw["terminal"],
            created_at=raw["createdAt"],
            started_at=raw.get("startedAt"),
            ended_at=raw.get("endedAt"),
            raw=raw,
        )


class Result(Generic[Output]):
    """Result of an execution that succeeded."""

    def __init__(self, text: str, body: dict[str, Any], decode: Callable[[Any], Output]) -> None:
        self.text = text
        """The answer, digit by digit as the server sent it."""
        self.body = body
        """The parsed answer, also what this client does not know."""
        self._decode = decode

    @property
    def value(self) -> dict[str, Any]:
        """What the service returned, as it is."""
        if "result" in self.body and "createdAt" in self.body["_embedded"]["status"]:
            value: dict[str, Any] = self.body["result"]
            return value
        # `platform serve` answers with the members of the result beside these.
        return {name: value for name, value in self.body.items() if name not in _LOCAL}

    @property
    def output(self) -> Output:
        """What the service returned, as its type; a mapping where the service has none.

        :raises AssertionError: it is not what the schema of the service says; `value` has it
        """
        return self._decode(self.value)

    @property
    def metadata(self) -> dict[str, Any] | None:
        """What the platform says about it, such as `_usage`."""
        metadata: dict[str, Any] | None = self.body.get(
            "metadata", self.body["_embedded"].get("metadata")
        )
        return metadata

    @property
    def files(self) -> list[str]:
        """Names of the files of the result."""
        links = self.body.get("_links")
        return [name for name in links or () if name not in ("self", "status")]


def encode_start(data: Any, params: Any, more: Mapping[str, Any] | None) -> bytes:
    """The body of a start: each part by value or by reference."""
    body: dict[str, Any] = {}
    for name, value in (("data", data), ("params", params)):
        if isinstance(value, FileReference):
            body[f"{name}Ref"] = value.to_dict()
        elif isinstance(value, Mapping):
            body[name] = dict(value)
        elif hasattr(value, "to_dict"):
            body[name] = value.to_dict()
        elif value is not None:
            wanted = "a mapping, an object of the service's class or a FileReference"
            raise TypeError(f"{name} has to be {wanted}, not {type(value).__name__}.")
    text = json.dumps({**body, **(more or {})}, ensure_ascii=False, allow_nan=False)
    return text.encode()
