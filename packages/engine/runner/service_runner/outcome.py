"""Encodes what `run` returned: bytes of result and metadata, JSON objects in ASCII."""

from __future__ import annotations

import json
import re

from .failure import Failure, describe_exception, extend_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    _Visit = tuple[str, Any, tuple[Any, ...]]
    """JSON pointer, value, and the values that contain it."""

METADATA_LIMIT = 1 << 20
_METADATA_DEPTH = 200
_OWN_NAMES = ("_usage", "_inputs", "_persisted", "_omittedFiles")
"""What the platform itself says of a run (`run-output.ts`)."""
_MAX_SEARCHED = 100_000
_LISTED = b'{"value": '
"""How the result begins that is a list: no object of user code has a space there, however it is
called, so that its beginning tells (`large-lists.ts`)."""


class _Listed(dict[str, "Any"]):
    """A list, as the member `value` of an object."""


def encode_outcome(value: Any, result_limit: int) -> tuple[bytes, bytes | None]:
    """Result and metadata, neither longer than its limit in bytes.

    Raises Failure: INVALID_RESULT, RESULT_TOO_LARGE, or the code that the service chose.
    """
    chosen = _read_failure(value) if _is_envelope(value, {"code", "detail"}, "code") else None
    if chosen is not None:
        raise chosen
    metadata = None
    if _is_envelope(value, {"result", "metadata"}, "result"):
        value, metadata = value.result, getattr(value, "metadata", None)
    result = _encode("result", _as_object(value), result_limit)
    if metadata is None:
        return result, None
    text = _encode("metadata", _as_metadata(metadata), METADATA_LIMIT)
    if _is_deep(text):
        reason = f"The metadata is nested deeper than {_METADATA_DEPTH} levels."
        raise Failure("INVALID_RESULT", reason)
    return result, text


def encode_checkpoint(value: Any, limit: int) -> bytes:
    """A partial result, converted as a result is. Raises Failure."""
    if _is_envelope(value, {"result", "metadata"}, "result"):
        value = value.result
    text = _encode("checkpoint", {**_as_object(value)}, limit)
    if _is_deep(text):
        reason = f"The checkpoint is nested deeper than {_METADATA_DEPTH} levels."
        raise Failure("INVALID_RESULT", reason)
    return text


def read_chosen_failure(error: BaseException) -> Failure | None:
    """The failure of an exception that has a code and a detail, both of them strings; else None."""
    try:
        return _read_failure(error)
    except Exception:
        return None


def _read_failure(value: object) -> Failure | None:
    code, detail = getattr(value, "code", None), getattr(value, "detail", None)
    if isinstance(code, str) and code and isinstance(detail, str):
        return Failure(code, detail)
    return None


def _declared_fields(value: object) -> set[str] | None:
    """Names of the fields of a model or dataclass; None for objects that declare none."""
    kind = type(value)
    fields = getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", None)
    return set(fields) if fields is not None else None


def _is_envelope(value: object, allowed: set[str], needed: str) -> bool:
    """Whether an object has these fields only: with others, it is a result that uses the name."""
    if value is None or isinstance(value, (dict, list, tuple, str, int, float, type)):
        return False
    declared = _declared_fields(value)
    if declared is not None:
        return needed in declared and declared <= allowed
    return hasattr(value, needed) and not callable(getattr(value, needed))


def _as_object(value: Any) -> dict[str, Any]:
    if type(value) is dict:
        return value
    value = _lower(value)
    if value is None:
        return {}
    if isinstance(value, (list, tuple)):
        return _Listed(value=value)
    return value if isinstance(value, dict) else {"value": value}


def _as_metadata(value: Any) -> dict[str, Any]:
    value = _lower(value)
    if not isinstance(value, dict):
        raise Failure(
            "INVALID_RESULT", f"metadata must be an object, not of type {type(value).__name__}."
        )
    if any(
        name in value for name in _OWN_NAMES
    ):  # of another execution, whose metadata are passed on
        return {name: item for name, item in value.items() if name not in _OWN_NAMES}
    return value


def _is_deep(text: bytes) -> bool:
    """Whether a JSON text has more levels of objects and arrays than metadata may have."""
    if text.count(b"{") + text.count(b"[") <= _METADATA_DEPTH:
        return False
    depth = 0
    for byte in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text):
        depth += (byte in b"{[") - (byte in b"}]")
        if depth > _METADATA_DEPTH:
            return True
    return False


def _lower(value: Any) -> Any:
    """One step towards JSON for a value that is not JSON itself; an unknown value stays."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if hasattr(type(value), "__dataclass_fields__"):
        return {name: getattr(value, name) for name in type(value).__dataclass_fields__}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()  # numpy arrays and scalars, and what behaves like them
    import enum

    return value.value if isinstance(value, enum.Enum) else value


def _lower_or_refuse(value: Any) -> Any:
    lowered = _lower(value)
    if lowered is value:
        raise TypeError(f"an object of type {type(value).__name__} is not JSON")
    return lowered


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_lower_or_refuse)


def _encode(name: str, value: dict[str, Any], limit: int) -> bytes:
    try:
        data = _ENCODER.encode(value).encode("ascii")
    except RecursionError:
        raise Failure("INVALID_RESULT", f"The {name} is nested too deeply to be JSON.") from None
    except (TypeError, ValueError) as error:
        raise Failure("INVALID_RESULT", _explain(name, value, error)) from None
    if isinstance(value, _Listed):
        data = b"".join((_LISTED, memoryview(data)[len(_LISTED) - 1 :]))
    if len(data) > limit:
        size = f"The {name} has {len(data)} bytes of JSON text"
        raise Failure("RESULT_TOO_LARGE", f"{size}, the limit is {limit} bytes.")
    return data


def _explain(name: str, value: dict[str, Any], error: Exception) -> str:
    found = _find_offender(value)
    if found is None:
        return f"The {name} is not JSON: {describe_exception(error)}"
    pointer, reason = found
    return f"The {name} is not JSON: {reason} at {pointer or '/'}."


def _find_offender(root: Any) -> tuple[str, str] | None:
    """Place and description of a value that is not JSON; gives up after a bounded search."""
    waiting: list[_Visit] = [("", root, ())]
    for _ in range(_MAX_SEARCHED):
        if not waiting:
            return None
        pointer, value, parents = waiting.pop()
        offence = _describe_offence(pointer, value, parents)
        if offence is not None:
            return offence
        try:
            waiting.extend(_list_members(pointer, value, (*parents, value)))
        except Exception:
            return pointer, f"a value of type {type(value).__name__}"
    return None


def _describe_offence(pointer: str, value: Any, parents: tuple[Any, ...]) -> tuple[str, str] | None:
    if isinstance(value, float) and value - value != 0:  # only NaN and the infinities
        return pointer, f"the number {value}"
    if isinstance(value, (str, int, float)):
        return None
    if any(value is parent for parent in parents):
        return pointer, "a circular reference"
    for key in value if isinstance(value, dict) else ():
        if not (key is None or isinstance(key, (str, int, float))):
            return extend_pointer(pointer, key), f"a key of type {type(key).__name__}"
    return None


def _list_members(pointer: str, value: Any, parents: tuple[Any, ...]) -> list[_Visit]:
    """What is to be searched below a value; raises if the value has no JSON form."""
    if value is None or isinstance(value, (str, int, float)):
        return []
    if isinstance(value, dict):
        return [(extend_pointer(pointer, key), item, parents) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [(extend_pointer(pointer, at), item, parents) for at, item in enumerate(value)]
    return [(pointer, _lower_or_refuse(value), parents)]
