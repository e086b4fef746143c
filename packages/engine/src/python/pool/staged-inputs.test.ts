import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeListable } from "../../testing/make-listable.ts";
import { SILENT } from "../../testing/silent-logger.ts";
import { stageInputs } from "./staged-inputs.ts";
import { createZygoteFolders } from "./zygote-folders.ts";
import type { ZygoteFolders } from "./zygote-folders.ts";

let directory: string;
let folders: ZygoteFolders;
/** The folder of a zygote's inputs. */
let place: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "staged-inputs-"));
  mkdirSync(join(directory, "run"));
  folders = createZygoteFolders(join(directory, "run"), SILENT);
  place = join(folders.create(), "in");
});
afterEach(() => {
  makeListable(directory);
  rmSync(directory, { recursive: true, force: true });
});

function createObject(mode: number): string {
  const path = join(directory, "object");
  writeFileSync(path, "{}");
  chmodSync(path, mode);
  return path;
}

async function stageLink(object: string, mayLink: boolean) {
  const staged = await stageInputs({ folders, sandbox: { mayLink } }, async ({ locate }) =>
    linkSync(object, locate("params")),
  );
  return { staged, file: statSync(join(place, staged.moveTo(place), "params")) };
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("an input is read-only, has its size, and is moved by a name that cannot be guessed", async () => {
  const staged = await stageInputs({ folders, sandbox: { mayLink: true } }, async ({ locate }) =>
    writeFileSync(locate("data"), '{"a":1}', { mode: 0o600 }),
  );
  expect(staged.bytes).toEqual({ data: 7 });
  const name = staged.moveTo(place);
  expect(name).toMatch(/^[0-9a-f]{32}$/);
  expect(readFileSync(join(place, name, "data"), "utf8")).toBe('{"a":1}');
  expect([modeOf(join(place, name)), modeOf(join(place, name, "data"))]).toEqual([0o711, 0o444]);
});

test("a read-only object is linked where a run cannot change its permissions, and copied where it can", async () => {
  const object = createObject(0o444);
  expect((await stageLink(object, true)).file.ino).toBe(statSync(object).ino);
  expect((await stageLink(object, false)).file).toMatchObject({ nlink: 1, size: 2 });
  expect(statSync(object).nlink).toBe(2);
});

test("files of a data pool are copied whatever their names are, and nothing else is left beside them", async () => {
  const object = createObject(0o444);
  const names = ["a", "a.copy", "b".repeat(255)];
  const staged = await stageInputs({ folders, sandbox: { mayLink: false } }, async ({ makePool }) => {
    const pool = await makePool(0);
    for (const name of names) linkSync(object, join(pool, name));
  });
  const pool = join(place, staged.moveTo(place), "pool-0");
  expect(readdirSync(pool).toSorted()).toEqual(names);
  for (const name of names)
    expect(statSync(join(pool, name))).toMatchObject({ nlink: 1, size: 2, mode: 0o100444 });
});

test("a link to what is not read-only is copied: the object keeps its permissions", async () => {
  const object = createObject(0o640);
  const { file } = await stageLink(object, true);
  expect([file.nlink, file.mode & 0o777, modeOf(object)]).toEqual([1, 0o444, 0o640]);
});

test("what is no regular file is refused, and so is what could not be filled; nothing is left of either", async () => {
  const sandbox = { mayLink: true };
  const link = stageInputs({ folders, sandbox }, async ({ locate }) =>
    symlinkSync("/etc/hostname", locate("data")),
  );
  await expect(link).rejects.toThrow("no regular file");
  const full = stageInputs({ folders, sandbox }, () => Promise.reject(new Error("ENOSPC")));
  await expect(full).rejects.toThrow("ENOSPC");
  await folders.drain();
  makeListable(directory);
  const left = readdirSync(join(directory, "run"), { recursive: true, encoding: "utf8" });
  expect(left.toSorted()).toEqual([expect.stringMatching(/^inputs-[0-9a-f]{32}$/), "z", "z/1", "z/1/in"]);
});

test("a discarded input is removed wherever it is, and the object stays", async () => {
  const object = createObject(0o444);
  const { staged } = await stageLink(object, true);
  staged.discard();
  await folders.drain();
  makeListable(directory);
  expect([readdirSync(place), statSync(object).nlink, modeOf(object)]).toEqual([[], 1, 0o444]);
});
