"""Hints of `run` -> JSON Schema (2020-12), for OpenAPI and for validation at the door."""

import typing

from . import hints
from .binder import NAMES, Binder

_PRIMITIVES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
}
_MAX_DEPTH = 30


def derive_schemas(binder: Binder) -> tuple[dict | None, dict | None]:
    """Schema of the input (an object with `data` and `params`) and of the result; None where nothing is hinted."""
    members = {
        name: binder.hints[name] for name in NAMES if binder.hints.get(name) not in (None, object)
    }
    source = _Schemas("#/$defs/", "validation")
    properties = {name: source.derive(hint, 0) for name, hint in members.items()}
    properties = {name: schema for name, schema in properties.items() if schema != {}}
    required = [name for name in properties if source.requires_members(members[name])]
    given = (
        source.close(
            {
                "type": "object",
                "properties": properties,
                **({"required": required} if required else {}),
            }
        )
        if properties
        else None
    )
    return given, _derive_output(binder.hints.get("return"))


def _derive_output(hint) -> dict | None:
    """The result is always an object: what is none is wrapped as `value`; None where the hint does not say which."""
    hint = hints.unwrap(hint)
    if hints.is_dataclass(hint) and {name for name, _, _ in hints.fields_of(hint)} in (
        {"result"},
        {"result", "metadata"},
    ):
        return _derive_output(
            dict((name, kind) for name, kind, _ in hints.fields_of(hint))["result"]
        )
    target = _Schemas("#/$defs/", "serialization")
    schema = target.derive(hint, 0)
    if hint in (None, object, type(None)) or hints.is_union(hint) or not schema:
        return None
    named = (
        "$ref" in schema
        and target.definitions[schema["$ref"].removeprefix(target.prefix)].get("type") == "object"
    )
    if not named and schema.get("type") != "object":
        schema = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    return target.close(schema)


class _Schemas:
    """Collects named definitions, so that a type that refers to itself has a finite schema."""

    def __init__(self, prefix: str, mode: str) -> None:
        self.prefix = prefix
        self.mode = mode
        self.definitions: dict[str, dict] = {}
        self.names: dict[type, str] = {}

    def close(self, schema: dict) -> dict:
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def requires_members(self, hint) -> bool:
        """Whether leaving the whole argument out (= an empty object) cannot fit."""
        hint = hints.unwrap(hint)
        if hints.is_model(hint):
            return bool(hint.model_json_schema().get("required"))
        if hints.is_dataclass(hint):
            return any(required for _, _, required in hints.fields_of(hint))
        return typing.is_typeddict(hint) and bool(hint.__required_keys__)

    def derive(self, hint, depth: int) -> dict:
        hint = hints.unwrap(hint)
        if depth > _MAX_DEPTH:
            return {}
        if hints.is_model(hint):
            return self._refer(hint, self._derive_model)
        if hints.is_dataclass(hint):
            return self._refer(
                hint, lambda kind: self._derive_members(hints.fields_of(kind), depth, closed=True)
            )
        if typing.is_typeddict(hint):
            return self._refer(
                hint, lambda kind: self._derive_members(hints.keys_of(kind), depth, closed=False)
            )
        if hints.is_union(hint):
            return self._derive_union(hint, depth)
        if hints.is_literal(hint):
            return {"enum": list(typing.get_args(hint))}
        if hints.is_enum(hint):
            return {"enum": [member.value for member in hint]}
        return self._derive_plain(hint, depth)

    def _derive_plain(self, hint, depth: int) -> dict:
        base, arguments = hints.base_of(hint), typing.get_args(hint)
        if base in _PRIMITIVES:
            return {"type": _PRIMITIVES[base]}
        if base in hints.MAPPINGS:
            items = self.derive(arguments[1], depth + 1) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": items} if items else {})}
        if base in hints.SEQUENCES:
            return self._derive_sequence(base, arguments, depth)
        return {}

    def _derive_sequence(self, base, arguments, depth: int) -> dict:
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

    def _derive_union(self, hint, depth: int) -> dict:
        options = [self.derive(member, depth + 1) for member in typing.get_args(hint)]
        return {} if {} in options else {"anyOf": options}

    def _derive_members(self, members, depth: int, closed: bool) -> dict:
        required = [name for name, _, needed in members if needed]
        return {
            "type": "object",
            "properties": {name: self.derive(hint, depth + 1) for name, hint, _ in members},
            **({"required": required} if required else {}),
            **({"additionalProperties": False} if closed else {}),
        }

    def _derive_model(self, kind) -> dict:
        schema = dict(kind.model_json_schema(ref_template=self.prefix + "{model}", mode=self.mode))
        for name, definition in schema.pop("$defs", {}).items():
            self.definitions.setdefault(name, definition)
        return schema

    def _refer(self, kind: type, derive) -> dict:
        if kind not in self.names:
            name, number = kind.__name__, 2
            while name in self.definitions:
                name, number = f"{kind.__name__}{number}", number + 1
            self.names[kind] = name
            self.definitions[name] = {}
            self.definitions[name] = derive(kind)
        return {"$ref": self.prefix + self.names[kind]}
