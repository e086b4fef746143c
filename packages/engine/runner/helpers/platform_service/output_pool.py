"""Data pools that get files of a run."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

_PLACE = "an output pool must be data or params itself, or a member of one of them, given by value"


class OutputPool:
    """A folder to write to: when `run` has succeeded, its files are stored in a data pool.

    Declare it in the hints of `run`, and callers pass `{"dataPoolId": "..."}` in its place::

        @dataclass
        class Params:
            tours: OutputPool

        def run(params: Params):
            with params.tours.open("berlin.csv") as file:
                file.write("...")

    It is a path (`os.PathLike`), empty at first: what the data pool has already is not in it. A
    file takes the place of one of its name. Nothing is stored when `run` fails. In tests,
    `OutputPool("some/folder")` writes to a folder that is there.
    """

    __slots__ = ("_id", "_path")
    platform_input = "output-pool"
    """Says to the platform what to pass."""

    def __init__(self, path: str | os.PathLike[str], *, pool_id: str | None = None) -> None:
        self._path = os.fspath(path)
        self._id = pool_id

    @property
    def id(self) -> str | None:
        """The id of the data pool; None for a folder in a test."""
        return self._id

    @property
    def path(self) -> str:
        """The path of the folder, absolute in a run."""
        return self._path

    def file(self, name: str) -> str:
        """The path of a file, to be written. Raises ValueError for what is no plain name."""
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is no name of a file: a data pool has no folders")
        return os.path.join(self._path, name)

    def open(self, name: str, mode: str = "w", encoding: str | None = None) -> IO[Any]:
        """Opens a file for writing: text in UTF-8, or bytes with the mode `wb`."""
        text = None if "b" in mode else encoding or "utf-8"
        return open(self.file(name), mode, encoding=text)

    def __fspath__(self) -> str:
        return self._path

    def __repr__(self) -> str:
        return f"OutputPool({self._path!r})"

    @classmethod
    def _accept(cls, value: Any) -> OutputPool:
        if isinstance(value, cls):
            return value
        if getattr(type(value), "platform_input", None) != cls.platform_input:
            raise ValueError(_PLACE)
        return cls(value.path, pool_id=value.id)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        from pydantic_core import core_schema  # type: ignore[import-not-found]

        return core_schema.no_info_plain_validator_function(cls._accept)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, Any]:
        return cls.describe()

    @staticmethod
    def describe() -> dict[str, Any]:
        """JSON Schema of what callers pass."""
        return {
            "type": "object",
            "format": "output-pool",
            "description": "A data pool that gets files of the service when it has succeeded",
            "properties": {"dataPoolId": {"type": "string", "format": "uuid"}},
            "required": ["dataPoolId"],
            "additionalProperties": False,
        }
