"""Questions about type hints that conversion and schema share."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections import abc
from typing import Any

SEQUENCES = (
    list,
    tuple,
    set,
    frozenset,
    abc.Sequence,
    abc.Iterable,
    abc.Collection,
    abc.MutableSequence,
)
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
Member = tuple[str, Any, bool]
"""Name and hint of a field or key, and whether it is required."""
_POOLS = ("data-pool", "output-pool")
_QUALIFIERS = (
    typing.Annotated,
    typing.Required,
    typing.NotRequired,
    typing.Final,
    typing.ClassVar,
)


def unwrap(hint: Any) -> Any:
    """Removes what does not change the value: Annotated, NewType, Required, Final, type aliases."""
    while True:
        if typing.get_origin(hint) in _QUALIFIERS:
            hint = typing.get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint


def is_model(hint: Any) -> bool:
    """A pydantic v2 model, recognised by its methods: pydantic is never imported here."""
    return (
        isinstance(hint, type)
        and hasattr(hint, "model_validate")
        and hasattr(hint, "model_json_schema")
    )


def is_data_pool(hint: Any) -> bool:
    """`DataPool` or `OutputPool` of `platform_service`, recognised by what it says of itself."""
    return isinstance(hint, type) and getattr(hint, "platform_input", None) in _POOLS


def is_dataclass(hint: Any) -> bool:
    """A dataclass itself, not an instance of one."""
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def is_enum(hint: Any) -> bool:
    """A class of the `enum` module."""
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def is_union(hint: Any) -> bool:
    """`Union[...]`, `Optional[...]` or `X | Y`."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def is_literal(hint: Any) -> bool:
    """`Literal[...]`."""
    return typing.get_origin(hint) is typing.Literal


def base_of(hint: Any) -> Any:
    """`list` for `list[int]`, the hint itself where it has no arguments."""
    return typing.get_origin(hint) or hint


def fields_of(hint: Any) -> list[Member]:
    """The fields of a dataclass that its constructor takes."""
    hints = typing.get_type_hints(hint)
    missing = dataclasses.MISSING
    return [
        (
            field.name,
            hints.get(field.name, object),
            field.default is missing and field.default_factory is missing,
        )
        for field in dataclasses.fields(hint)
        if field.init
    ]


def keys_of(hint: Any) -> list[Member]:
    """The keys of a TypedDict."""
    return [
        (name, key, name in hint.__required_keys__)
        for name, key in typing.get_type_hints(hint).items()
    ]
