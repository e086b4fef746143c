import { expect, test } from "vitest";
import { toShownParams } from "./shown-params.ts";

test("options are shown as they were sent", () => {
  const params = { seed: 7, method: "automatic", meas_map: [0, 1, 2], memory: null };
  expect(toShownParams(params)).toEqual(params);
});

test("of a large option its size is shown, and no more of all options than lists have room for", () => {
  const noise = { qubits: Array.from({ length: 200 }, (_, id) => ({ id })) };
  const bytes = Buffer.byteLength(JSON.stringify(noise));
  expect(toShownParams({ noise, seed: 7 })).toEqual({ noise: `(${bytes} bytes)`, seed: 7 });
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`option${index}`, index]));
  const shown = toShownParams(many);
  expect(shown).toMatchObject({ option0: 0, option9: 9 });
  expect(JSON.stringify(shown).length).toBeLessThan(2_100);
  expect(toShownParams({ ["n".repeat(60_000)]: 1, seed: 7 })).toEqual({});
});
