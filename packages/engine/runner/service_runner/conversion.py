"""Converts a JSON value to what a type hint asks for.

Hints that have no meaning for JSON leave the value as it is.
"""

from __future__ import annotations

import typing

from . import hints
from .failure import InvalidInput, describe_exception, extend_pointer
from .pinned_pool import PinnedOutput, PinnedPool

if typing.TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MAX_REPORTED = 5


def convert(hint: Any, value: Any, pointer: str) -> Any:
    """The value as `hint` wants it; raises InvalidInput, which names the place in the input."""
    hint = hints.unwrap(hint)
    if hints.is_model(hint):
        return _convert_model(hint, value, pointer)
    if hints.is_data_pool(hint):
        return _convert_data_pool(hint, value, pointer)
    if hints.is_dataclass(hint):
        return _convert_dataclass(hint, value, pointer)
    if typing.is_typeddict(hint):
        return _convert_typed_dict(hint, value, pointer)
    if hints.is_union(hint):
        return _convert_union(hint, value, pointer)
    if hints.is_literal(hint):
        return _convert_literal(hint, value, pointer)
    if hints.is_enum(hint):
        return _convert_enum(hint, value, pointer)
    return _convert_plain(hint, value, pointer)


def _convert_plain(hint: Any, value: Any, pointer: str) -> Any:
    base = hints.base_of(hint)
    if base in hints.MAPPINGS:
        return _convert_mapping(hint, value, pointer)
    if base in hints.SEQUENCES:
        return _convert_sequence(hint, base, value, pointer)
    if base in (int, float):
        return _convert_number(base, value, pointer)
    if base in (None, type(None)):
        _require(value is None, value, pointer, "null")
    elif base is bool:
        _require(isinstance(value, bool), value, pointer, "a boolean")
    elif base is str:
        _require(isinstance(value, str), value, pointer, "a string")
    return value


def _convert_number(base: type[int | float], value: Any, pointer: str) -> int | float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if base is float:
        _require(is_number, value, pointer, "a number")
    else:
        is_whole = is_number and (isinstance(value, int) or value.is_integer())
        _require(is_whole, value, pointer, "an integer")
    try:
        return base(value)
    except OverflowError:  # JSON allows integers that no float can hold
        raise InvalidInput(pointer, "is too large for a number") from None


def _require(fits: bool, value: Any, pointer: str, wanted: str) -> None:
    if not fits:
        raise InvalidInput(pointer, f"must be {wanted}, not {_name_json_type(value)}")


def _name_json_type(value: Any) -> str:
    if value is None:
        return "null"
    names = (
        (bool, "a boolean"),
        (str, "a string"),
        ((int, float), "a number"),
        (list, "an array"),
        (dict, "an object"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), type(value).__name__)


def _convert_mapping(hint: Any, value: Any, pointer: str) -> Any:
    _require(isinstance(value, dict), value, pointer, "an object")
    arguments = typing.get_args(hint)
    if len(arguments) != 2:
        return value
    key_hint, item_hint = (hints.unwrap(argument) for argument in arguments)
    return {
        _convert_key(key_hint, key, pointer): convert(item_hint, item, extend_pointer(pointer, key))
        for key, item in value.items()
    }


def _convert_key(hint: Any, key: str, pointer: str) -> Any:
    if hint not in (int, float):
        return convert(hint, key, extend_pointer(pointer, key))
    try:
        return hint(key)  # JSON keys are strings, whatever the hint says
    except ValueError:
        place = extend_pointer(pointer, key)
        raise InvalidInput(place, f"the key must be a {hint.__name__}") from None


def _convert_sequence(hint: Any, base: Any, value: Any, pointer: str) -> Any:
    _require(isinstance(value, list), value, pointer, "an array")
    arguments = typing.get_args(hint)
    if base is tuple and arguments and arguments[-1] is not Ellipsis:
        count = len(arguments)
        _require(len(value) == count, value, pointer, f"an array of {count} items")
        return tuple(
            convert(arguments[index], item, extend_pointer(pointer, index))
            for index, item in enumerate(value)
        )
    items = value
    if arguments and hints.unwrap(arguments[0]) not in (object, typing.Any):
        items = [
            convert(arguments[0], item, extend_pointer(pointer, index))
            for index, item in enumerate(value)
        ]
    try:
        return base(items) if base in (tuple, set, frozenset) else items
    except TypeError as error:
        raise InvalidInput(pointer, describe_exception(error), quotes=True) from None


def _convert_union(hint: Any, value: Any, pointer: str) -> Any:
    problems = []
    for member in typing.get_args(hint):
        try:
            return convert(member, value, pointer)
        except InvalidInput as problem:
            problems.append(problem)
    obvious = "must be null, not " + _name_json_type(value)
    reported = [problem for problem in problems if not problem.clause.endswith(obvious)]
    if len(reported) == 1:
        raise reported[0]
    details = "; ".join(problem.clause for problem in reported[:MAX_REPORTED])
    raise InvalidInput(pointer, f"fits none of the allowed forms ({details})")


def _convert_literal(hint: Any, value: Any, pointer: str) -> Any:
    allowed = typing.get_args(hint)
    for item in allowed:
        if type(item) is type(value) and item == value:
            return item
    raise InvalidInput(pointer, "must be one of " + ", ".join(repr(item) for item in allowed))


def _convert_enum(hint: Any, value: Any, pointer: str) -> Any:
    for member in hint:
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    allowed = ", ".join(repr(member.value) for member in hint)
    raise InvalidInput(pointer, f"must be one of {allowed}")


def _convert_dataclass(hint: Any, value: Any, pointer: str) -> Any:
    _require(isinstance(value, dict), value, pointer, "an object")
    fields = hints.fields_of(hint)
    unknown = [key for key in value if key not in {name for name, _, _ in fields}]
    if unknown:
        place = extend_pointer(pointer, unknown[0])
        raise InvalidInput(place, f"is not a field of {hint.__name__}")
    arguments = _convert_members(fields, value, pointer)
    try:
        return hint(**arguments)
    except Exception as error:
        raise InvalidInput(pointer, describe_exception(error), quotes=True) from None


def _convert_typed_dict(hint: Any, value: Any, pointer: str) -> dict[str, Any]:
    _require(isinstance(value, dict), value, pointer, "an object")
    return {**value, **_convert_members(hints.keys_of(hint), value, pointer)}


def _convert_members(
    members: Iterable[hints.Member], value: dict[str, Any], pointer: str
) -> dict[str, Any]:
    converted = {}
    for name, member_hint, required in members:
        if name in value:
            converted[name] = convert(member_hint, value[name], extend_pointer(pointer, name))
        elif required:
            raise InvalidInput(extend_pointer(pointer, name), "is required")
    return converted


def _convert_data_pool(hint: Any, value: Any, pointer: str) -> Any:
    if isinstance(value, PinnedPool) and value.platform_input == hint.platform_input:
        return hint(value.path, pool_id=value.id, sizes=value.sizes)
    if isinstance(value, PinnedOutput) and value.platform_input == hint.platform_input:
        return hint(value.path, pool_id=value.id)
    place = "data or params itself or a member of one of them, given by value"
    raise InvalidInput(pointer, f"is no data pool: that must be {place}")


def _convert_model(hint: Any, value: Any, pointer: str) -> Any:
    try:
        return hint.model_validate(value)
    except Exception as error:
        problems = _read_model_errors(error, pointer)
        if not problems:
            raise InvalidInput(pointer, describe_exception(error), quotes=True) from None
        first, *others = problems
        reason = "; ".join([first[1], *(f"{place}: {message}" for place, message in others)])
        raise InvalidInput(first[0], reason, quotes=True) from None


def _read_model_errors(error: Any, pointer: str) -> list[tuple[str, str]]:
    try:
        problems = []
        for problem in error.errors()[:MAX_REPORTED]:
            place = pointer
            for part in problem["loc"]:
                place = extend_pointer(place, part)
            problems.append((place, str(problem["msg"])))
        return problems
    except Exception:
        return []
