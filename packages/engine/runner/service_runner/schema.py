"""Derives JSON Schemas (2020-12) from the hints of `run`, for OpenAPI and for checking requests."""

from __future__ import annotations

import dataclasses
import json
import typing

from . import hints
from .binder import NAMES
from .defaults import MISSING, read_default

if typing.TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .binder import Binder

    Schema = dict[str, Any]

_PRIMITIVES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
}
_MAX_DEPTH = 30
_MAX_CHARACTERS_WITH_DEFAULTS = 32 * 1024
"""Of the JSON text in ASCII: one of 64 kB is left out of the version, which no default is worth."""


def derive_schemas(binder: Binder) -> tuple[Schema | None, Schema | None]:
    """Schema of the input (an object with `data` and `params`) and of the result.

    Each is None where `run` has no hints that say anything about it.
    """
    return _derive_input(binder.hints), _derive_output(binder.hints.get("return"))


def _derive_input(all_hints: dict[str, Any]) -> Schema | None:
    members = {name: all_hints.get(name) for name in NAMES}
    source = _Schemas("#/$defs/", "validation")
    properties = {
        name: source.derive(hint, 0) for name, hint in members.items() if hint not in (None, object)
    }
    properties = {name: schema for name, schema in properties.items() if schema}
    if not properties:
        return None
    required = [name for name in properties if source.requires_members(members[name])]
    schema = source.close(_describe_object(properties, required))
    if source.with_default and len(json.dumps(schema)) > _MAX_CHARACTERS_WITH_DEFAULTS:
        for member in source.with_default:
            del member["default"]
    return schema


def _describe_object(properties: dict[str, Schema], required: list[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _derive_output(hint: Any) -> Schema | None:
    """The result is always an object: another value becomes its member `value`."""
    hint = hints.unwrap(hint)
    if hints.is_dataclass(hint):
        fields = {name: kind for name, kind, _ in hints.fields_of(hint)}
        if fields.keys() in ({"result"}, {"result", "metadata"}):
            return _derive_output(fields["result"])
    target = _Schemas("#/$defs/", "serialization")
    schema = target.derive(hint, 0)
    if hint in (None, object, type(None)) or hints.is_union(hint) or not schema:
        return None
    if target.resolve(schema).get("type") != "object":
        schema = _describe_object({"value": schema}, ["value"])
    return target.close(schema)


class _Schemas:
    """Collects named definitions, so that a type that refers to itself has a finite schema."""

    def __init__(self, prefix: str, mode: typing.Literal["validation", "serialization"]) -> None:
        self.prefix = prefix
        self.mode = mode
        self.with_default: list[Schema] = []
        self.definitions: dict[str, Schema] = {}
        self.names: dict[type, str] = {}

    def close(self, schema: Schema) -> Schema:
        """The schema of a whole document: with all definitions that were collected."""
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def resolve(self, schema: Schema) -> Schema:
        """The definition that a schema refers to, or the schema itself."""
        reference = schema.get("$ref")
        return (
            schema if reference is None else self.definitions[reference.removeprefix(self.prefix)]
        )

    def requires_members(self, hint: Any) -> bool:
        """Whether an empty object, which an omitted argument stands for, cannot fit."""
        hint = hints.unwrap(hint)
        if hints.is_data_pool(hint):
            return True
        if hints.is_model(hint):
            return bool(hint.model_json_schema().get("required"))
        if hints.is_dataclass(hint):
            return any(required for _, _, required in hints.fields_of(hint))
        return typing.is_typeddict(hint) and bool(hint.__required_keys__)

    def derive(self, hint: Any, depth: int) -> Schema:
        """The schema of a hint; empty where it says nothing, and below a depth that no data has."""
        hint = hints.unwrap(hint)
        if depth > _MAX_DEPTH:
            return {}
        if hints.is_model(hint):
            return self._refer(hint, self._derive_model)
        if hints.is_dataclass(hint):
            return self._refer(hint, lambda kind: self._derive_dataclass(kind, depth))
        if typing.is_typeddict(hint):
            return self._refer(hint, lambda kind: self._derive_members(hints.keys_of(kind), depth))
        if hints.is_union(hint):
            return self._derive_union(hint, depth)
        if hints.is_literal(hint):
            return {"enum": list(typing.get_args(hint))}
        if hints.is_enum(hint):
            return {"enum": [member.value for member in hint]}
        return self._derive_plain(hint, depth)

    def _derive_plain(self, hint: Any, depth: int) -> Schema:
        base, arguments = hints.base_of(hint), typing.get_args(hint)
        if hints.is_data_pool(hint):
            return self._refer(hint, lambda kind: dict(kind.describe()))
        if base in _PRIMITIVES:
            return {"type": _PRIMITIVES[base]}
        if base in hints.MAPPINGS:
            items = self.derive(arguments[1], depth + 1) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": items} if items else {})}
        if base in hints.SEQUENCES:
            return self._derive_sequence(base, arguments, depth)
        return {}

    def _derive_sequence(self, base: Any, arguments: tuple[Any, ...], depth: int) -> Schema:
        if base is tuple and arguments and arguments[-1] is not Ellipsis:
            size = len(arguments)
            return {
                "type": "array",
                "prefixItems": [self.derive(item, depth + 1) for item in arguments],
                "minItems": size,
                "maxItems": size,
            }
        items = self.derive(arguments[0], depth + 1) if arguments else {}
        return {"type": "array", **({"items": items} if items else {})}

    def _derive_union(self, hint: Any, depth: int) -> Schema:
        options = [self.derive(member, depth + 1) for member in typing.get_args(hint)]
        return {} if {} in options else {"anyOf": options}

    def _derive_dataclass(self, kind: Any, depth: int) -> Schema:
        members = self._derive_members(hints.fields_of(kind), depth)
        if self.mode == "validation":
            self._add_defaults(kind, members["properties"])
        return {**members, "additionalProperties": False}

    def _add_defaults(self, kind: Any, properties: dict[str, Schema]) -> None:
        types = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if field.init:
                schema = properties[field.name]
                default = read_default(field, types.get(field.name, object), schema)
                if default is not MISSING:
                    properties[field.name] = {**schema, "default": default}
                    self.with_default.append(properties[field.name])

    def _derive_members(self, members: list[hints.Member], depth: int) -> Schema:
        properties = {name: self.derive(hint, depth + 1) for name, hint, _ in members}
        return _describe_object(properties, [name for name, _, required in members if required])

    def _derive_model(self, kind: Any) -> Schema:
        schema = dict(kind.model_json_schema(ref_template=self.prefix + "{model}", mode=self.mode))
        definitions = schema.pop("$defs", {})
        name = self.names[kind]
        # A model that refers to itself is one of its definitions, and the schema only refers to it.
        own = definitions.pop(name, schema) if name == kind.__name__ else schema
        names = self._name_definitions(definitions)
        moved = {self.prefix + old: self.prefix + new for old, new in names.items() if old != new}
        for old, new in names.items():
            self.definitions.setdefault(new, _move_references(definitions[old], moved))
        return dict(_move_references(own, moved))

    def _name_definitions(self, definitions: dict[str, Schema]) -> dict[str, str]:
        """Maps the names that pydantic chose, which are unique in one model only, to ours.

        Where one of them is that of another type, those that are in use are all renamed: an equal
        definition may refer to one that is not.
        """
        names = {name: name for name in definitions}
        used = [name for name in definitions if name in self.definitions]
        if all(self.definitions[name] == definitions[name] for name in used):
            return names
        for name in used:
            number = 2
            while f"{name}{number}" in {*self.definitions, *names, *names.values()}:
                number += 1
            names[name] = f"{name}{number}"
        return names

    def _refer(self, kind: type, derive: Callable[[Any], Schema]) -> Schema:
        if kind not in self.names:
            name, number = kind.__name__, 2
            while name in self.definitions:
                name, number = f"{kind.__name__}{number}", number + 1
            self.names[kind] = name
            self.definitions[name] = {}
            self.definitions[name] = derive(kind)
        return {"$ref": self.prefix + self.names[kind]}


def _move_references(value: Any, moved: dict[str, str]) -> Any:
    """Replaces references wherever they stand: `discriminator` has a map of them."""
    if not moved:
        return value
    if isinstance(value, dict):
        return {key: _move_references(item, moved) for key, item in value.items()}
    if isinstance(value, list):
        return [_move_references(item, moved) for item in value]
    return moved.get(value, value) if isinstance(value, str) else value
