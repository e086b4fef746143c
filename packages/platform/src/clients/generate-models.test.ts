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
