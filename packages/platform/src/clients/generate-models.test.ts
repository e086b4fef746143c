import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { generateModels } from "./generate-models.ts";
import type { ModelRequest } from "./generate-models.ts";
import type { PlainSchema } from "./plain-schema.ts";

const request = (schema: PlainSchema): ModelRequest => ({
  language: "python",
  parts: [{ name: "Data", schema }],
  javaPackage: "a",
});
const SMALL = request({ type: "object", properties: { a: { type: "integer" } } });

/** Each object is another type: more than any service has, and more than fits. */
function createLarge(types: number): ModelRequest {
  const properties = Object.fromEntries(
    Array.from({ length: types }, (_, index) => [
      `type${index}`,
      { type: "object", properties: { [`member${index}`]: { type: "string" } } },
    ]),
  );
  return request({ type: "object", properties });
}

test("what exceeds its time gets no models, and others do", async () => {
  const small = await generateModels(SMALL);
  expect(await generateModels(createLarge(20_000), { generationMs: 200 })).toBeNull();
  expect(small?.["models.py"]).toContain("class Data");
  expect((await generateModels(SMALL))?.["models.py"]).toBe(small?.["models.py"]);
});

test("what exceeds its memory gets no models, and the process lives on", async () => {
  const limits = { memoryMb: 32, generationMs: 60_000 };
  expect(await generateModels(createLarge(20_000), limits)).toBeNull();
  expect((await generateModels(SMALL, limits))?.["models.py"]).toContain("class Data");
});

/** Names that Python or the generated code has for something else; the most dangerous are not here, see `AWKWARD` of plain-schema.ts. */
const NAMES =
  "list dict int str bool float type property result cast value any Any T x f Enum dataclass self cls".split(
    " ",
  );

/** Reads the value of the second argument with the models of the first, and writes it again. */
const READER = `import json, sys
models = {}
exec(compile(sys.argv[1], "models.py", "exec"), models)
print(json.dumps(models["Data"].from_dict(json.loads(sys.argv[2])).to_dict()))
`;

test("in Python members may be called as what the models use, and have defaults: what was read is written", async () => {
  const member = { type: "array", items: { type: "integer" } };
  const properties = Object.fromEntries(
    NAMES.map((name, at) => [
      `child${at}`,
      { type: "object", properties: { [name]: member, other: member }, required: [] },
    ]),
  );
  const files = await generateModels(request({ type: "object", properties }), { generationMs: 20_000 });
  const value = Object.fromEntries(NAMES.map((name, at) => [`child${at}`, { [name]: [1, 2], other: [3] }]));
  const { stdout } = await promisify(execFile)("python3", [
    "-c",
    READER,
    files?.["models.py"] ?? "",
    JSON.stringify(value),
  ]);
  expect(JSON.parse(stdout)).toEqual(value);
});

test.each([
  ["python", "models.py", /^ {4}(\w+): (?!.*=)/gmu],
  ["javascript", "models.d.ts", /^ {4}(\w+)\??:/gmu],
  ["java", "Data.java", /^ {4}private \w+ (\w+);/gmu],
] as const)("members of %s have the order of the schema", async (language, file, member) => {
  const names = ["values", "label", "properties", "mode"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const files = await generateModels({
    ...request({ type: "object", properties, required: names }),
    language,
  });
  expect([...(files?.[file] ?? "").matchAll(member)].map(([, name]) => name)).toEqual(names);
});
