import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DAY } from "@platform/engine/base/time";
import { removeStale } from "./stale-files.ts";

test("only what bears the prefix and has not changed for a day is removed, and a missing folder is no error", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stale-files-"));
  const old = new Date(Date.now() - 2 * DAY);
  for (const name of ["incoming-old", "incoming-new", "0a1b2c"]) await writeFile(join(directory, name), "");
  for (const name of ["incoming-old", "0a1b2c"]) await utimes(join(directory, name), old, old);
  expect(await removeStale(directory, "incoming-")).toBe(1);
  expect(new Set(await readdir(directory))).toEqual(new Set(["0a1b2c", "incoming-new"]));
  expect(await removeStale(join(directory, "nowhere"), "")).toBe(0);
  await rm(directory, { recursive: true });
});
