"""What kind of hint is this: the questions that conversion and schema share."""

import dataclasses
import enum
import types
import typing
from collections import abc

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


def unwrap(hint):
    """Takes off what says nothing about the value: Annotated, NewType, Required, Final, a type alias."""
    while True:
        origin = typing.get_origin(hint)
        if origin in (
            typing.Annotated,
            typing.Required,
            typing.NotRequired,
            typing.Final,
            typing.ClassVar,
        ):
            hint = typing.get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint


def is_model(hint) -> bool:
    """A pydantic v2 model, known by what it can do: pydantic itself is never imported here."""
    return (
        isinstance(hint, type)
        and hasattr(hint, "model_validate")
        and hasattr(hint, "model_json_schema")
    )


def is_dataclass(hint) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def is_enum(hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def is_union(hint) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def is_literal(hint) -> bool:
    return typing.get_origin(hint) is typing.Literal


def base_of(hint):
    """`list` for `list[int]`, the hint itself where it has no arguments."""
    return typing.get_origin(hint) or hint


def fields_of(hint) -> list[tuple[str, object, bool]]:
    """Name, hint and whether it must be given, for each field of a dataclass."""
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


def keys_of(hint) -> list[tuple[str, object, bool]]:
    """Name, hint and whether it must be given, for each key of a TypedDict."""
    return [
        (name, key, name in hint.__required_keys__)
        for name, key in typing.get_type_hints(hint).items()
    ]
