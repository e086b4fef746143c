import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

test.each([
  ["both arguments", "def run(data, params):\n    return [data, params]", [{ a: 1 }, { b: 2 }]],
  ["the other order", "def run(params, data):\n    return [data, params]", [{ a: 1 }, { b: 2 }]],
  ["data alone", "def run(data):\n    return data", { a: 1 }],
  ["params alone", "def run(params):\n    return params", { b: 2 }],
  ["no argument", "def run():\n    return 7", 7],
  ["keyword-only arguments", "def run(*, data, params):\n    return [data, params]", [{ a: 1 }, { b: 2 }]],
  ["positional-only arguments", "def run(data, params, /):\n    return [data, params]", [{ a: 1 }, { b: 2 }]],
  [
    "collected keywords",
    "def run(**inputs):\n    return [inputs['data'], inputs['params']]",
    [{ a: 1 }, { b: 2 }],
  ],
  ["another argument with a default", "def run(data, seed=5):\n    return [data, seed]", [{ a: 1 }, 5]],
  [
    "a coroutine",
    "import asyncio\nasync def run(data):\n    await asyncio.sleep(0)\n    return [data]",
    [{ a: 1 }],
  ],
  [
    "a decorated function",
    "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return [f(*a, **k)] * 2\n    return inner\n@twice\ndef run(params):\n    return params",
    [{ b: 2 }, { b: 2 }],
  ],
  [
    "a callable object",
    "class Run:\n    def __call__(self, data):\n        return [data]\nrun = Run()",
    [{ a: 1 }],
  ],
])("run gets its inputs by name: %s", async (_, program, expected) => {
  const { result } = await fixture.finish(fixture.createVersion(program), {
    data: { a: 1 },
    params: { b: 2 },
  });
  expect(result).toEqual(
    Array.isArray(expected) || typeof expected === "number" ? { value: expected } : expected,
  );
});

test("missing data and params are empty objects, and references take the place of data", async () => {
  const version = fixture.createVersion(
    "def run(data, params):\n    return {'data': data, 'params': params}",
  );
  expect((await fixture.finish(version, { body: "{}" })).result).toEqual({ data: {}, params: {} });
  const files = await fixture.stage('{"from":"file"}');
  expect((await fixture.finish(version, { body: "{}", files })).result).toEqual({
    data: { from: "file" },
    params: {},
  });
});

const TYPED = `
import enum
from dataclasses import dataclass, field
from typing import List, Literal, Optional, TypedDict, Union

class Kind(enum.Enum):
    ROUND = "round"
    FLAT = "flat"

@dataclass
class City:
    name: str
    x: float
    y: float = 0.0

class Options(TypedDict, total=False):
    tries: int

@dataclass
class Problem:
    cities: List[City]
    kind: Kind = Kind.FLAT
    start: Optional[City] = None
    mode: Literal["fast", "good"] = "good"
    limit: Union[int, str] = 3
    pair: tuple[int, str] = (1, "a")
    tags: dict[str, list[int]] = field(default_factory=dict)

def run(data: Problem, params: Options):
    assert isinstance(data.cities[0], City) and isinstance(data.kind, Kind), data
    return {"x": [type(city.x).__name__ for city in data.cities], "kind": data.kind, "start": data.start, "tries": params.get("tries"), "pair": data.pair}
`;

test("hints make dataclasses, enums and typed dictionaries of the input", async () => {
  const data = {
    cities: [
      { name: "a", x: 1 },
      { name: "b", x: 2.5, y: 1 },
    ],
    kind: "round",
    start: { name: "c", x: 0 },
    pair: [2, "b"],
    tags: { t: [1] },
  };
  const { result, outcome } = await fixture.finish(fixture.createVersion(TYPED), {
    data,
    params: { tries: 4, other: 1 },
  });
  expect(outcome).toMatchObject({ status: "SUCCEEDED" });
  expect(result).toEqual({
    x: ["float", "float"],
    kind: "round",
    start: { name: "c", x: 0, y: 0 },
    tries: 4,
    pair: [2, "b"],
  });
});

test.each([
  [
    {
      cities: [
        { name: "a", x: 1 },
        { name: 5, x: 1 },
      ],
    },
    {},
    "/data/cities/1/name: must be a string, not a number.",
  ],
  [{ cities: [{ name: "a" }] }, {}, "/data/cities/0/x: is required."],
  [{}, {}, "/data/cities: is required."],
  [{ cities: {} }, {}, "/data/cities: must be an array, not an object."],
  [{ cities: [], colour: 1 }, {}, "/data/colour: is not a field of Problem."],
  [{ cities: [], kind: "square" }, {}, "/data/kind: must be one of 'round', 'flat'."],
  [{ cities: [], mode: "slow" }, {}, "/data/mode: must be one of 'fast', 'good'."],
  [{ cities: [], start: { name: "a", x: true } }, {}, "/data/start/x: must be a number, not a boolean."],
  [
    { cities: [], limit: [] },
    {},
    "/data/limit: fits none of the allowed forms (/data/limit: must be an integer, not an array; /data/limit: must be a string, not an array).",
  ],
  [{ cities: [], tags: { "a/b": ["x"] } }, {}, "/data/tags/a~1b/0: must be an integer, not a string."],
  [{ cities: [] }, { tries: 1.5 }, "/params/tries: must be an integer, not a number."],
])("input that does not fit the hints names the place: %j %j", async (data, params, detail) => {
  const { outcome } = await fixture.finish(typed(), { data, params });
  expect(outcome).toMatchObject({ status: "FAILED", code: "INVALID_INPUT", detail });
});

let known: ReturnType<Fixture["createVersion"]> | undefined;
function typed(): ReturnType<Fixture["createVersion"]> {
  return (known ??= fixture.createVersion(TYPED));
}

/** What pydantic v2 offers, as far as the runtime looks: the runtime itself never imports it. */
const MODEL = `
class ValidationError(Exception):
    def errors(self):
        return [{"loc": ("cities", 0, "name"), "msg": "Input should be a valid string"}, {"loc": ("n",), "msg": "Field required"}]

class Model:
    def __init__(self, value):
        self.value = value
    @classmethod
    def model_validate(cls, value):
        if "n" not in value:
            raise ValidationError("2 errors")
        return cls(value["n"])
    @classmethod
    def model_json_schema(cls, ref_template="", mode="validation"):
        return {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    def model_dump(self, mode):
        return {"n": self.value, "mode": mode}

def run(data: Model) -> Model:
    return Model(data.value + 1)
`;

test("pydantic models validate the input and dump the result", async () => {
  const version = fixture.createVersion(MODEL);
  expect((await fixture.finish(version, { data: { n: 1 } })).result).toEqual({ n: 2, mode: "json" });
  const { outcome } = await fixture.finish(version, { data: {} });
  expect(outcome).toMatchObject({
    code: "INVALID_INPUT",
    detail: "/data/cities/0/name: Input should be a valid string; /data/n: Field required",
  });
});

test.each([
  ['{"data": [1]}', "/data: must be a JSON object."],
  ['{"data": NaN}', "/: is not JSON: NaN is not a JSON value."],
  ['{"data": ', "/: is not JSON: Expecting value: line 1 column 10 (char 9)"],
  [`{"data": {"a": ${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, "/: is nested too deeply."],
  [`{"data": {"a": ${"9".repeat(5000)}}}`, /^\/: is not JSON: Exceeds the limit/u],
])("an input that is no JSON object fails cleanly: %.40s", async (body, detail) => {
  const { outcome } = await fixture.finish(plain(), { body });
  expect(outcome).toMatchObject({ status: "FAILED", code: "INVALID_INPUT" });
  expect("detail" in outcome ? outcome.detail : "").toMatch(detail);
});

function plain(): ReturnType<Fixture["createVersion"]> {
  return fixture.createVersion("def run(data):\n    return data");
}
