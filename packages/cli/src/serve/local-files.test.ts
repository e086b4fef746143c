import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createJsonCheck } from "@platform/engine/json-check/json-check";
import { toJobOwner } from "@platform/engine/store/owner";
import type { InputSource } from "@platform/engine/store/execution-store";
import { createKeptContents } from "./kept-contents.ts";
import type { KeptContents } from "./kept-contents.ts";
import { createLocalFiles } from "./local-files.ts";
import { readPools } from "./pool-folder.ts";

const OWNER = toJobOwner("local");
const MAX_BYTES = 100_000;
const MINUTE = 60_000;
const jsonCheck = createJsonCheck();

let root = "";
let time = 0;
let contents: KeptContents;
let files: InputSource;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(root, "pools/Maps"), { recursive: true });
  time = Date.now();
  contents = createKeptContents(join(root, "contents"), () => time);
  files = createLocalFiles({ root: join(root, "pools"), contents, jsonCheck, maxBytes: MAX_BYTES });
});

afterEach(() => rm(root, { recursive: true, force: true }));
afterAll(jsonCheck.close);

const pathOf = (name: string) => join(root, "pools/Maps", name);

async function write(content: string, name = "map.json") {
  await writeFile(pathOf(name), content, "latin1");
  const { pools } = await readPools(join(root, "pools"));
  const file = pools[0]?.files.find((one) => one.name === name);
  if (file === undefined) throw new Error("There is no such file.");
  return file.reference;
}

test("the pin names the content, and the run gets it, whatever becomes of the file", async () => {
  const reference = await write('{"a": 1}');
  const pin = await files.pin(reference, OWNER);
  const sha256 = createHash("sha256").update('{"a": 1}').digest("hex");
  expect(pin).toEqual({ ...reference, sha256, bytes: 8 });
  await writeFile(pathOf("map.json"), '{"b": 2}');
  await rm(pathOf("map.json"));
  const placed = join(root, "placed");
  expect(await files.place(pin, placed)).toBe("placed");
  expect(await readFile(placed, "utf8")).toBe('{"a": 1}');
  expect((await stat(placed)).mode & 0o777).toBe(0o444);
});

test("content is kept while an execution needs it, and for ten minutes; equal content once", async () => {
  const reference = await write('{"a": 1}');
  const [pin] = await Promise.all([files.pin(reference, OWNER), files.pin(reference, OWNER)]);
  expect(await listKept()).toHaveLength(1);
  contents.hold("one", [pin.sha256]);
  time += 11 * MINUTE;
  await files.pin(await write('{"b": 2}'), OWNER);
  expect(await listKept()).toHaveLength(2);
  time += 11 * MINUTE;
  await contents.release("one");
  expect(await listKept()).toEqual([]);
  expect(await files.place(pin, join(root, "placed"))).toBe("gone");
});

async function listKept(): Promise<readonly string[]> {
  return readdir(join(root, "contents"));
}

test("a file that is larger than executions read is refused before it is copied", async () => {
  const reference = await write("{}");
  await truncate(pathOf("map.json"), 5 * 2 ** 30);
  await expect(files.pin(reference, OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    message: expect.stringContaining("too large"),
  });
  expect(await listKept()).toEqual([]);
});

test("a run that cannot get its copy is not told that the file is gone", async () => {
  const pin = await files.pin(await write("{}"), OWNER);
  await expect(files.place(pin, join(root, "absent/placed"))).rejects.toMatchObject({ code: "ENOENT" });
});

test.each([
  ["[1]", "byte 0"],
  ["{", "byte 1"],
  ["\u00FF", "byte 0"],
  [`${'{"a":'.repeat(201)}1${"}".repeat(201)}`, "200"],
  ["", "byte 0"],
])("a file with %s is refused", async (text, reason) => {
  await expect(files.pin(await write(text), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    message: expect.stringContaining(reason),
  });
});

test("a data pool counts as often as it is named: each time is a folder of the run, with all files", async () => {
  const { dataPoolId } = await write("{}");
  await write("{}", "other.json");
  const pinTwice = (poolLimits: { readonly files: number; readonly bytes: number }) =>
    createLocalFiles({ root: join(root, "pools"), contents, jsonCheck, poolLimits }).pinPools(
      [dataPoolId, dataPoolId.toUpperCase()],
      OWNER,
    );
  const [first, second] = await pinTwice({ files: 4, bytes: 8 });
  expect(first?.map(({ name }) => name)).toEqual(["map.json", "other.json"]);
  expect(second).toEqual(first);
  await expect(pinTwice({ files: 3, bytes: 8 })).rejects.toThrow("more than 3 files together");
  await expect(pinTwice({ files: 4, bytes: 7 })).rejects.toThrow("GB together");
});

test("a pointer names the object that the run gets", async () => {
  const reference = await write('{"maps": [{"a": 1}]}');
  const pin = (pointer: string) => files.pin({ ...reference, pointer }, OWNER);
  expect(await pin("/maps/0")).toMatchObject({ bytes: 20, range: { start: 10, end: 18 } });
  for (const pointer of ["/maps", "/maps/1", "maps"])
    await expect(pin(pointer)).rejects.toMatchObject({ code: "DATA_REFERENCE_INVALID" });
});

test("ids never become a path, even if they were not validated before", async () => {
  const reference = await write("{}");
  await writeFile(join(root, "secret"), "{}");
  for (const fileId of ["../../secret", "../Maps/map.json", "map.json"])
    await expect(files.pin({ ...reference, fileId }, OWNER)).rejects.toMatchObject({
      code: "DATA_REFERENCE_INVALID",
    });
});
