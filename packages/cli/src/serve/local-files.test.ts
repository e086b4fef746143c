import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toJobOwner } from "@platform/engine/store/owner";
import { createLocalFiles } from "./local-files.ts";

const POOL = "11111111-1111-4111-8111-111111111111";
const FILE = "33333333-3333-4333-8333-333333333333";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(root, "pools", POOL, POOL), { recursive: true });
  await writeFile(join(root, "secret"), "{}");
});

afterEach(() => rm(root, { recursive: true, force: true }));

const OWNER = toJobOwner("local");
const reference = (fileId: string) => ({ dataPoolId: POOL, dataSourceDescriptorId: POOL, fileId });

test("ids never lead out of the folder, even if they were not validated before", async () => {
  const files = createLocalFiles(join(root, "pools"));
  expect(await files.place(reference("../../../secret"), OWNER, join(root, "placed"))).toBe("gone");
  await expect(files.check(reference("../../../secret"), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});

test("a file that vanishes between start and run is none", async () => {
  const files = createLocalFiles(join(root, "pools"));
  const path = join(root, "pools", POOL, POOL, FILE);
  await writeFile(path, '{"a": 1}');
  await files.check(reference(FILE), OWNER);
  await rm(path);
  expect(await files.place(reference(FILE), OWNER, join(root, "placed"))).toBe("gone");
});

test("a run gets a copy: what the developer changes meanwhile is not seen by it", async () => {
  const path = join(root, "pools", POOL, POOL, FILE);
  await writeFile(path, '{"a": 1}', { mode: 0o600 });
  const placed = join(root, "placed");
  expect(await createLocalFiles(join(root, "pools")).place(reference(FILE), OWNER, placed)).toBe("placed");
  await writeFile(path, '{"b": 2}');
  expect(await readFile(placed, "utf8")).toBe('{"a": 1}');
  expect((await stat(placed)).nlink).toBe(1);
});

test("a run that cannot get its copy is not told that the file is gone", async () => {
  await writeFile(join(root, "pools", POOL, POOL, FILE), "{}");
  const files = createLocalFiles(join(root, "pools"));
  await expect(files.place(reference(FILE), OWNER, join(root, "absent/placed"))).rejects.toMatchObject({
    code: "ENOENT",
  });
});

test.each([
  ["[1]", "not an object"],
  ["{", "not JSON"],
  ["\u00FF", "not JSON"],
])("a file with %s is refused", async (text, reason) => {
  await writeFile(join(root, "pools", POOL, POOL, `${FILE}.json`), text, "latin1");
  await expect(createLocalFiles(join(root, "pools")).check(reference(FILE), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    message: expect.stringContaining(reason),
  });
});
