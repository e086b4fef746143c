"""What `run` returned -> the bytes of the result and of the metadata, each a JSON object in ASCII."""

import json

from .failure import Failure, describe_exception, extend_pointer

METADATA_LIMIT = 1 << 20
_MAX_SEARCHED = 100_000


def encode_outcome(value, result_limit: int) -> tuple[bytes, bytes | None]:
    """Result and metadata; raises Failure (INVALID_RESULT, RESULT_TOO_LARGE, or the code that the service chose)."""
    refused = _read_strings(value, "code", "detail")
    if refused is not None:
        raise Failure(*refused)
    metadata = None
    if _is_envelope(value, {"result", "metadata"}, "result"):
        value, metadata = value.result, getattr(value, "metadata", None)
    result = _encode("result", _as_object(value), result_limit)
    if metadata is None:
        return result, None
    return result, _encode("metadata", _as_metadata(metadata), METADATA_LIMIT)


def read_chosen_failure(error: BaseException) -> Failure | None:
    """Code and detail that an exception of the user carries, both of them strings."""
    try:
        code, detail = getattr(error, "code", None), getattr(error, "detail", None)
    except Exception:
        return None
    return (
        Failure(code, detail)
        if isinstance(code, str) and code and isinstance(detail, str)
        else None
    )


def _declared_fields(value) -> set[str] | None:
    """Names of the fields of a model or dataclass; None for objects that declare none."""
    fields = getattr(type(value), "model_fields", None) or getattr(
        type(value), "__dataclass_fields__", None
    )
    return set(fields) if fields is not None else None


def _is_envelope(value, allowed: set[str], needed: str) -> bool:
    """A model or dataclass with further fields is a result by itself that happens to use the name."""
    if value is None or isinstance(value, (dict, list, tuple, str, int, float, type)):
        return False
    declared = _declared_fields(value)
    if declared is not None:
        return needed in declared and declared <= allowed
    return hasattr(value, needed) and not callable(getattr(value, needed))


def _read_strings(value, *names: str) -> tuple[str, ...] | None:
    if not _is_envelope(value, set(names), names[0]):
        return None
    found = tuple(getattr(value, name, None) for name in names)
    return found if all(isinstance(text, str) for text in found) and found[0] else None


def _as_object(value) -> dict:
    value = _lower(value)
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"value": value}


def _as_metadata(value) -> dict:
    value = _lower(value)
    if not isinstance(value, dict):
        raise Failure(
            "INVALID_RESULT", f"metadata must be an object, not of type {type(value).__name__}"
        )
    return value


def _lower(value):
    """One step towards JSON for what is not JSON itself; anything unknown stays."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if hasattr(type(value), "__dataclass_fields__"):
        return {name: getattr(value, name) for name in type(value).__dataclass_fields__}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()  # numpy arrays and scalars, and what behaves like them
    import enum

    return value.value if isinstance(value, enum.Enum) else value


def _lower_or_refuse(value):
    lowered = _lower(value)
    if lowered is value:
        raise TypeError(f"an object of type {type(value).__name__} is not JSON")
    return lowered


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_lower_or_refuse)


def _encode(name: str, value: dict, limit: int) -> bytes:
    try:
        data = _ENCODER.encode(value).encode("ascii")
    except RecursionError:
        raise Failure("INVALID_RESULT", f"The {name} is nested too deeply to be JSON") from None
    except (TypeError, ValueError) as error:
        raise Failure("INVALID_RESULT", _explain(name, value, error)) from None
    if len(data) > limit:
        raise Failure(
            "RESULT_TOO_LARGE",
            f"The {name} has {len(data)} bytes of JSON text, the limit is {limit} bytes",
        )
    return data


def _explain(name: str, value: dict, error: Exception) -> str:
    found = _find_offender(value)
    if found is None:
        return f"The {name} is not JSON: {describe_exception(error)}"
    pointer, reason = found
    return f"The {name} is not JSON: {reason} at {pointer or '/'}"


def _find_offender(root) -> tuple[str, str] | None:
    """Place and fault of the first value that is not JSON; gives up after a bounded search."""
    stack, seen = [("", root, ())], 0
    while stack and seen < _MAX_SEARCHED:
        pointer, value, parents = stack.pop()
        seen += 1
        if value is None or isinstance(value, (str, bool, int)):
            continue
        if isinstance(value, float):
            if value - value != 0:  # only NaN and the infinities
                return pointer, f"the number {value}"
            continue
        if id(value) in parents:
            return pointer, "a circular reference"
        parents = (*parents, id(value))
        if isinstance(value, dict):
            for key, item in value.items():
                if not (key is None or isinstance(key, (str, int, float))):
                    return extend_pointer(pointer, key), f"a key of type {type(key).__name__}"
                stack.append((extend_pointer(pointer, key), item, parents))
        elif isinstance(value, (list, tuple)):
            stack.extend(
                (extend_pointer(pointer, index), item, parents) for index, item in enumerate(value)
            )
        else:
            try:
                stack.append((pointer, _lower_or_refuse(value), parents))
            except Exception:
                return pointer, f"a value of type {type(value).__name__}"
    return None
