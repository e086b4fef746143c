import { expect, test } from "vitest";
import { placeInputs } from "./place-inputs.ts";

const AREA = {
  locate: (name: string) => `/in/${name}`,
  makePool: async (number: number) => `/in/pool-${number}`,
};
const filesOf = (...names: readonly string[]) =>
  names.map((name) => ({ name, fileId: name, sha256: name, bytes: 1 }));
const pinsOf = (...names: readonly string[]) => ({
  pools: [{ path: ["data"], dataPoolId: "pool", files: filesOf(...names) }],
});

test("each file of each pool is placed once, in the folder of its pool", async () => {
  const placed: string[] = [];
  const place = async (_pin: unknown, path: string) => {
    placed.push(path);
    return "placed" as const;
  };
  const names = Array.from({ length: 30 }, (_, index) => `file-${index}`);
  const [first] = pinsOf(...names).pools;
  const [second] = pinsOf("a").pools;
  const pools = [first, second].filter((pool) => pool !== undefined);
  expect(await placeInputs({ place }, { pools }, AREA)).toBe(null);
  expect(placed.sort()).toEqual([...names.map((name) => `/in/pool-0/${name}`), "/in/pool-1/a"].sort());
});

/** All are there but `b`. */
const placeButB = async (_pin: unknown, path: string) => (path.endsWith("b") ? "gone" : "placed");

test("what is gone is named", async () => {
  expect(await placeInputs({ place: placeButB }, pinsOf("a", "b", "c"), AREA)).toBe(
    "The file b of a data pool",
  );
});

test("a store that does not answer is a fault, and nothing is placed any more when that is told", async () => {
  let running = 0;
  const place = async (_pin: unknown, path: string) => {
    running += 1;
    await new Promise(setImmediate);
    running -= 1;
    if (path.endsWith("a")) throw new Error("away");
    return "placed" as const;
  };
  const names = Array.from({ length: 30 }, (_, index) => `file-${index}`);
  await expect(placeInputs({ place }, pinsOf("a", ...names), AREA)).rejects.toThrow("away");
  expect(running).toBe(0);
});

test.each(["../escape", "..", "a/b", ""])("the name %j becomes no path", async (name) => {
  await expect(placeInputs({ place: placeButB }, pinsOf(name), AREA)).rejects.toThrow(
    "a name that none can have",
  );
});
