"""The JSON Schema that hints of `run` say."""

import dataclasses
import enum
import typing
import unittest
from typing import Any

from service_runner.binder import Binder
from service_runner.failure import Failure
from service_runner.schema import derive_schemas


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Tree:
    value: int
    children: list["Tree"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Settings:
    values: list[float]
    label: str = "x"
    mode: str = "fast"


@dataclasses.dataclass
class Envelope:
    result: dict[str, int]
    metadata: dict[str, int]


class Model:
    """Looks like a pydantic model; pydantic is not among what these tests need."""

    @classmethod
    def model_validate(cls, _: Any) -> Any:
        return cls()

    @classmethod
    def model_json_schema(cls, ref_template: str = "#/$defs/{model}", **_: Any) -> dict[str, Any]:
        reference = {"$ref": ref_template.format(model="Part")}
        return {
            "type": "object",
            "properties": {"part": reference},
            "required": ["part"],
            "$defs": {"Part": {"type": "string"}},
        }


class Node(Model):
    """As pydantic describes a model that refers to itself."""

    @classmethod
    def model_json_schema(cls, ref_template: str = "#/$defs/{model}", **_: Any) -> dict[str, Any]:
        reference = {"$ref": ref_template.format(model="Node")}
        return {
            **reference,
            "$defs": {"Node": {"type": "object", "properties": {"next": reference}}},
        }


def derive(run: Any) -> tuple[Any, Any]:
    return derive_schemas(Binder(run))


class Schemas(unittest.TestCase):
    def test_without_hints_there_is_none(self) -> None:
        for run in (lambda: None, lambda data, params: (data, params)):
            self.assertEqual(derive(run), (None, None))

    def test_each_hint_has_its_schema(self) -> None:
        cases = [
            (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (bool | None, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
            (typing.Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
            (list, {"type": "array"}),
            (
                tuple[int, str],
                {
                    "type": "array",
                    "prefixItems": [{"type": "integer"}, {"type": "string"}],
                    "minItems": 2,
                    "maxItems": 2,
                },
            ),
            (Colour, {"enum": ["red"]}),
            (typing.Literal["a", 1], {"enum": ["a", 1]}),
        ]
        for hint, expected in cases:
            with self.subTest(hint=hint):

                def run(data: Any) -> None:
                    pass

                run.__annotations__ = {"data": hint}
                self.assertEqual(
                    derive(run)[0], {"type": "object", "properties": {"data": expected}}
                )

    def test_members_stand_in_the_order_of_the_program(self) -> None:
        def run(data: Settings) -> None: ...

        definition = derive(run)[0]["$defs"]["Settings"]
        self.assertEqual(list(definition["properties"]), ["values", "label", "mode"])

    def test_a_large_schema_does_without_defaults(self) -> None:
        def derive_wide(count: int) -> Any:
            def run(data: Any) -> None: ...

            members = [(f"member{at}", str, "x" * 400) for at in range(count)]
            run.__annotations__ = {"data": dataclasses.make_dataclass("Wide", members)}
            return derive(run)[0]["$defs"]["Wide"]["properties"]["member0"]

        self.assertEqual(derive_wide(10), {"type": "string", "default": "x" * 400})
        self.assertEqual(derive_wide(100), {"type": "string"})

    def test_a_type_that_refers_to_itself_has_a_finite_schema(self) -> None:
        def run(data: Tree) -> None:
            pass

        schema, _ = derive(run)
        self.assertEqual(schema["properties"], {"data": {"$ref": "#/$defs/Tree"}})
        self.assertEqual(schema["required"], ["data"])
        self.assertEqual(
            schema["$defs"]["Tree"]["properties"]["children"],
            {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        )
        self.assertEqual(schema["$defs"]["Tree"]["required"], ["value"])

    def test_a_type_nested_without_end_is_cut_at_a_depth(self) -> None:
        hint: Any = int
        for _ in range(100):
            hint = list[hint]

        def run(data: Any) -> None:
            pass

        run.__annotations__ = {"data": hint}
        schema, depth = derive(run)[0]["properties"]["data"], 0
        while "items" in schema:
            schema, depth = schema["items"], depth + 1
        self.assertEqual((schema, depth), ({"type": "array"}, 30))

    def test_definitions_of_a_model_are_lifted_to_the_root(self) -> None:
        def run(data: Model) -> None:
            pass

        schema, _ = derive(run)
        self.assertEqual(schema["$defs"]["Part"], {"type": "string"})
        self.assertEqual(schema["$defs"]["Model"]["properties"], {"part": {"$ref": "#/$defs/Part"}})
        self.assertEqual(schema["required"], ["data"])

    def test_a_model_that_refers_to_itself_keeps_its_definition(self) -> None:
        def run(data: Node) -> Node:
            return data

        definition = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
        schema, returned = derive(run)
        self.assertEqual(schema["properties"], {"data": {"$ref": "#/$defs/Node"}})
        self.assertEqual(schema["$defs"], {"Node": definition})
        self.assertEqual(returned, {"$ref": "#/$defs/Node", "$defs": {"Node": definition}})

    def test_types_of_one_name_in_two_models_are_kept_apart(self) -> None:
        class Other(Model):
            @classmethod
            def model_json_schema(
                cls, ref_template: str = "#/$defs/{model}", **_: Any
            ) -> dict[str, Any]:
                schema = Model.model_json_schema(ref_template)
                return {**schema, "$defs": {"Part": {"type": "integer"}}}

        def run(data: Model, params: Other) -> None: ...

        part = {"type": "object", "required": ["part"]}
        self.assertEqual(
            derive(run)[0]["$defs"],
            {
                "Model": {**part, "properties": {"part": {"$ref": "#/$defs/Part"}}},
                "Part": {"type": "string"},
                "Other": {**part, "properties": {"part": {"$ref": "#/$defs/Part2"}}},
                "Part2": {"type": "integer"},
            },
        )

    def test_models_of_one_name_that_refer_to_themselves_are_kept_apart(self) -> None:
        class Other(Node):
            @classmethod
            def model_json_schema(
                cls, ref_template: str = "#/$defs/{model}", **_: Any
            ) -> dict[str, Any]:
                reference = {"$ref": ref_template.format(model="Node")}
                properties = {"last": reference}
                return {**reference, "$defs": {"Node": {"properties": properties}}}

        Other.__name__ = "Node"

        def run(data: Node, params: Other) -> None: ...

        schema = derive(run)[0]
        node, other = schema["properties"]["data"], schema["properties"]["params"]
        self.assertEqual(node, {"$ref": "#/$defs/Node"})
        self.assertIn("next", schema["$defs"]["Node"]["properties"])
        target = schema["$defs"][other["$ref"].removeprefix("#/$defs/")]
        final = schema["$defs"][target["$ref"].removeprefix("#/$defs/")]
        self.assertEqual(final["properties"], {"last": target})

    def test_the_output_is_always_an_object(self) -> None:
        def listing() -> list[int]:
            raise NotImplementedError

        def enveloped() -> Envelope:
            raise NotImplementedError

        def unknown() -> int | str:
            raise NotImplementedError

        wrapped = {
            "type": "object",
            "properties": {"value": {"type": "array", "items": {"type": "integer"}}},
            "required": ["value"],
        }
        self.assertEqual(derive(listing)[1], wrapped)
        self.assertEqual(
            derive(enveloped)[1], {"type": "object", "additionalProperties": {"type": "integer"}}
        )
        self.assertIsNone(derive(unknown)[1])

    def test_hints_that_do_not_resolve_are_an_error_of_the_project(self) -> None:
        def run(data: "Missing") -> None:  # type: ignore[name-defined] # noqa: F821
            pass

        with self.assertRaises(Failure) as raised:
            derive(run)
        self.assertEqual(raised.exception.code, "STARTUP_ERROR")


if __name__ == "__main__":
    unittest.main()
