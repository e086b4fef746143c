"""Defaults of fields as a schema shows them: plain JSON of a bounded size, or nothing.

A default is the value that stands in the class when it has been imported. It is only looked at:
exact types of Python, so that no method of user code is called, and no factory is.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from . import hints

MISSING = dataclasses.MISSING
_MAX_CHARACTERS = 500
_MAX_BITS = 64
_MAX_ITEMS = 100
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
}


def read_default(field: dataclasses.Field[Any], hint: Any, schema: dict[str, Any]) -> Any:
    """The default of a field as JSON; MISSING: it has none that the schema can show, and takes."""
    value = field.default
    hint = hints.unwrap(hint)
    if hints.is_enum(hint) and type(value) is hint:
        value = value.value
    value = _to_json(value)
    if value is MISSING or not _is_taken(value, schema):
        return MISSING
    return value if len(json.dumps(value, ensure_ascii=False)) <= _MAX_CHARACTERS else MISSING


def _to_json(value: Any) -> Any:
    if type(value) is tuple and len(value) <= _MAX_ITEMS:
        items = [_to_scalar(item) for item in value]
        return MISSING if any(item is MISSING for item in items) else items
    return _to_scalar(value)


def _to_scalar(value: Any) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if _is_storable(value) else MISSING
    if kind is int:
        return value if value.bit_length() <= _MAX_BITS else MISSING
    return value if kind is float and math.isfinite(value) else MISSING


def _is_storable(text: str) -> bool:
    """A text with a null character or half a surrogate pair would cost the version its schema."""
    if len(text) > _MAX_CHARACTERS or "\0" in text:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_taken(value: Any, schema: dict[str, Any]) -> bool:
    """Whether the schema takes it, as far as its own keywords say: `label: str = None` is common.

    What is referred to is an object, and a default that could be one is mutable.
    """
    if "$ref" in schema:
        return False
    if "enum" in schema:
        return any(type(one) is type(value) and one == value for one in schema["enum"])
    if "anyOf" in schema:
        return any(_is_taken(value, option) for option in schema["anyOf"])
    if "type" in schema:
        if type(value) not in _JSON_TYPES.get(schema["type"], ()):
            return False
        return type(value) is not list or _are_taken(value, schema)
    return True


def _are_taken(values: list[Any], schema: dict[str, Any]) -> bool:
    """Whether the schema takes the items of a tuple: each its own, or all the same."""
    each = schema.get("prefixItems")
    if each is not None:
        return len(values) == len(each) and all(map(_is_taken, values, each))
    return all(_is_taken(value, schema.get("items", {})) for value in values)
