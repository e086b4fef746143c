"""JSON value -> what a hint asks for. Hints that say nothing about JSON leave the value as it is."""

import typing

from . import hints
from .failure import InvalidInput, describe_exception, extend_pointer

MAX_REPORTED = 5


def convert(hint, value, pointer: str):
    """The value as `hint` wants it; raises InvalidInput naming the place as a JSON pointer."""
    hint = hints.unwrap(hint)
    if hints.is_model(hint):
        return _convert_model(hint, value, pointer)
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


def _convert_plain(hint, value, pointer: str):
    base = hints.base_of(hint)
    if base in hints.MAPPINGS:
        return _convert_mapping(hint, value, pointer)
    if base in hints.SEQUENCES:
        return _convert_sequence(hint, base, value, pointer)
    if base in (None, type(None)):
        return _expect(value is None, value, pointer, "null", value)
    if base is bool:
        return _expect(isinstance(value, bool), value, pointer, "a boolean", value)
    if base is str:
        return _expect(isinstance(value, str), value, pointer, "a string", value)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if base is int:
        whole = number and (isinstance(value, int) or value.is_integer())
        return _expect(whole, value, pointer, "an integer", value if not whole else int(value))
    if base is float:
        return _expect(number, value, pointer, "a number", value if not number else float(value))
    return value


def _expect(fits: bool, value, pointer: str, wanted: str, converted):
    if not fits:
        raise InvalidInput(pointer, f"must be {wanted}, not {_name_json_type(value)}")
    return converted


def _name_json_type(value) -> str:
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


def _convert_mapping(hint, value, pointer: str) -> dict:
    _expect(isinstance(value, dict), value, pointer, "an object", value)
    arguments = typing.get_args(hint)
    if len(arguments) != 2:
        return value
    key_hint, item_hint = (hints.unwrap(argument) for argument in arguments)
    return {
        _convert_key(key_hint, key, pointer): convert(item_hint, item, extend_pointer(pointer, key))
        for key, item in value.items()
    }


def _convert_key(hint, key: str, pointer: str):
    if hint not in (int, float):
        return convert(hint, key, extend_pointer(pointer, key))
    try:
        return hint(key)  # JSON keys are strings, whatever the hint says
    except ValueError:
        raise InvalidInput(
            extend_pointer(pointer, key), f"the key must be a {hint.__name__}"
        ) from None


def _convert_sequence(hint, base, value, pointer: str):
    _expect(isinstance(value, list), value, pointer, "an array", value)
    arguments = typing.get_args(hint)
    fixed = base is tuple and arguments and arguments[-1] is not Ellipsis
    if fixed:
        _expect(
            len(value) == len(arguments),
            value,
            pointer,
            f"an array of {len(arguments)} items",
            value,
        )
        return tuple(
            convert(item_hint, item, extend_pointer(pointer, index))
            for index, (item_hint, item) in enumerate(zip(arguments, value))
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
        raise InvalidInput(pointer, describe_exception(error)) from None


def _convert_union(hint, value, pointer: str):
    problems = []
    for member in typing.get_args(hint):
        try:
            return convert(member, value, pointer)
        except InvalidInput as problem:
            problems.append(problem)
    told = [
        problem
        for problem in problems
        if not problem.detail.endswith("must be null, not " + _name_json_type(value))
    ]
    if len(told) == 1:
        raise told[0]
    raise InvalidInput(
        pointer,
        "fits none of the allowed forms ("
        + "; ".join(problem.detail for problem in told[:MAX_REPORTED])
        + ")",
    )


def _convert_literal(hint, value, pointer: str):
    allowed = typing.get_args(hint)
    for item in allowed:
        if type(item) is type(value) and item == value:
            return item
    raise InvalidInput(pointer, "must be one of " + ", ".join(repr(item) for item in allowed))


def _convert_enum(hint, value, pointer: str):
    for member in hint:
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    raise InvalidInput(
        pointer, "must be one of " + ", ".join(repr(member.value) for member in hint)
    )


def _convert_dataclass(hint, value, pointer: str):
    _expect(isinstance(value, dict), value, pointer, "an object", value)
    fields = hints.fields_of(hint)
    unknown = [key for key in value if key not in {name for name, _, _ in fields}]
    if unknown:
        raise InvalidInput(
            extend_pointer(pointer, unknown[0]), f"is not a field of {hint.__name__}"
        )
    arguments = _convert_members(fields, value, pointer)
    try:
        return hint(**arguments)
    except Exception as error:
        raise InvalidInput(pointer, describe_exception(error)) from None


def _convert_typed_dict(hint, value, pointer: str) -> dict:
    _expect(isinstance(value, dict), value, pointer, "an object", value)
    return {**value, **_convert_members(hints.keys_of(hint), value, pointer)}


def _convert_members(members, value: dict, pointer: str) -> dict:
    converted = {}
    for name, member_hint, required in members:
        if name in value:
            converted[name] = convert(member_hint, value[name], extend_pointer(pointer, name))
        elif required:
            raise InvalidInput(extend_pointer(pointer, name), "is required")
    return converted


def _convert_model(hint, value, pointer: str):
    try:
        return hint.model_validate(value)
    except Exception as error:
        problems = _read_model_errors(error, pointer)
        if not problems:
            raise InvalidInput(pointer, describe_exception(error)) from None
        first, *others = problems
        raise InvalidInput(
            first[0], "; ".join([first[1], *(f"{place}: {message}" for place, message in others)])
        ) from None


def _read_model_errors(error: Exception, pointer: str) -> list[tuple[str, str]]:
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
