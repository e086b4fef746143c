import { expect, test } from "vitest";
import { createModelGenerator } from "./generate-models.ts";
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

test("what exceeds its time gets no models, and those who wait behind it do", async () => {
  const generate = createModelGenerator({ generationMs: 200 });
  const [large, small] = [await generate(createLarge(20_000)), await createModelGenerator()(SMALL)];
  expect(large).toBeNull();
  expect(small?.["models.py"]).toContain("class Data");
  expect((await createModelGenerator()(SMALL))?.["models.py"]).toBe(small?.["models.py"]);
});

test("what exceeds its memory gets no models, and the process lives on", async () => {
  const generate = createModelGenerator({ memoryMb: 32, generationMs: 60_000 });
  const [large, after] = await Promise.all([generate(createLarge(20_000)), generate(SMALL)]);
  expect(large).toBeNull();
  expect(after?.["models.py"]).toContain("class Data");
});

test("only one thread generates at a time", async () => {
  const generate = createModelGenerator();
  const ends: string[] = [];
  await Promise.all(
    ["first", "second"].map(async (name) => {
      expect(await generate(SMALL)).not.toBeNull();
      ends.push(name);
    }),
  );
  expect(ends).toEqual(["first", "second"]);
});
