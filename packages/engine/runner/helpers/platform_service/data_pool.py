"""Data pools as arguments of `run`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO, Any

_PLACE = "a data pool must be data or params itself, or a member of one of them, given by value"


class DataPool:
    """The files of a data pool as they were when the execution was started: a read-only folder.

    Declare it in the hints of `run`, and callers pass `{"dataPoolId": "..."}` in its place::

        @dataclass
        class Params:
            maps: DataPool

        def run(params: Params):
            with params.maps.open("berlin.json") as file:
                ...

    It is a path (`os.PathLike`), iterates over the names of its files, and has their sizes. At
    isolation level C the folder cannot be listed by `os.listdir`: ask this object for the names.
    In tests, `DataPool("some/folder")` has the files of a folder.
    """

    __slots__ = ("_id", "_path", "_sizes")
    platform_input = "data-pool"
    """Says to the platform what to pass."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        pool_id: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._id = pool_id
        self._sizes = _measure(self._path) if sizes is None else dict(sorted(sizes.items()))

    @property
    def id(self) -> str | None:
        """The id of the data pool; None for a folder in a test."""
        return self._id

    @property
    def path(self) -> str:
        """The absolute path of the folder."""
        return self._path

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each file in bytes, by name."""
        return dict(self._sizes)

    def open(self, name: str, mode: str = "r", encoding: str | None = None) -> IO[Any]:
        """Opens a file for reading: as text in UTF-8, or with the mode `rb` as bytes.

        Raises FileNotFoundError where the pool has no file of this name.
        """
        if mode.strip("rbt"):
            raise ValueError(f"a data pool can only be read: the mode {mode!r} writes")
        text = None if "b" in mode else encoding or "utf-8"
        return open(self.file(name), mode, encoding=text)

    def file(self, name: str) -> str:
        """The absolute path of a file. Raises FileNotFoundError where there is none."""
        if name not in self._sizes:
            raise FileNotFoundError(f"the data pool has no file {name!r}")
        return os.path.join(self._path, name)

    def __fspath__(self) -> str:
        return self._path

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    def __bool__(self) -> bool:
        """True, also without files."""
        return True

    def __repr__(self) -> str:
        return f"DataPool({self._path!r}, files={len(self._sizes)})"

    @classmethod
    def _accept(cls, value: Any) -> DataPool:
        if isinstance(value, cls):
            return value
        if getattr(type(value), "platform_input", None) != cls.platform_input:
            raise ValueError(_PLACE)
        return cls(value.path, pool_id=value.id, sizes=value.sizes)

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
            "format": "data-pool",
            "description": "A data pool, whose files the service reads",
            "properties": {"dataPoolId": {"type": "string", "format": "uuid"}},
            "required": ["dataPoolId"],
            "additionalProperties": False,
        }


def _measure(path: str) -> dict[str, int]:
    with os.scandir(path) as entries:
        return dict(
            sorted((entry.name, entry.stat().st_size) for entry in entries if entry.is_file())
        )
