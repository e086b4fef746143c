import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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

const OWNER = { kind: "organisation", id: "local", organisationId: "local" } as const;
const reference = (fileId: string) => ({ dataPoolId: POOL, dataSourceDescriptorId: POOL, fileId });

test("ids never lead out of the folder, even if they were not validated before", async () => {
  const files = createLocalFiles(join(root, "pools"));
  expect(
    await files.place({ ...reference("../../../secret"), sha256: "", bytes: 2 }, join(root, "placed")),
  ).toBe("gone");
  await expect(files.pin(reference("../../../secret"), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});

test("a file that vanishes between start and run is none", async () => {
  const files = createLocalFiles(join(root, "pools"));
  const path = join(root, "pools", POOL, POOL, FILE);
  await writeFile(path, '{"a": 1}');
  const pin = await files.pin(reference(FILE), OWNER);
  expect(pin).toEqual({
    ...reference(FILE),
    sha256: createHash("sha256").update('{"a": 1}').digest("hex"),
    bytes: 8,
  });
  await rm(path);
  expect(await files.place(pin, join(root, "placed"))).toBe("gone");
  await writeFile(path, '{"a": 2}');
  expect(await files.place(pin, join(root, "changed"))).toBe("gone");
});

test("a run gets a copy: what the developer changes meanwhile is not seen by it", async () => {
  const path = join(root, "pools", POOL, POOL, FILE);
  await writeFile(path, '{"a": 1}', { mode: 0o600 });
  const placed = join(root, "placed");
  const files = createLocalFiles(join(root, "pools"));
  expect(await files.place(await files.pin(reference(FILE), OWNER), placed)).toBe("placed");
  await writeFile(path, '{"b": 2}');
  expect(await readFile(placed, "utf8")).toBe('{"a": 1}');
  expect((await stat(placed)).nlink).toBe(1);
});

test("a run that cannot get its copy is not told that the file is gone", async () => {
  await writeFile(join(root, "pools", POOL, POOL, FILE), "{}");
  const files = createLocalFiles(join(root, "pools"));
  const pin = await files.pin(reference(FILE), OWNER);
  await expect(files.place(pin, join(root, "absent/placed"))).rejects.toMatchObject({
    code: "ENOENT",
  });
});

test.each([
  ["[1]", "byte 0"],
  ["{", "byte 1"],
  ["\u00FF", "byte 0"],
])("a file with %s is refused", async (text, reason) => {
  await writeFile(join(root, "pools", POOL, POOL, `${FILE}.json`), text, "latin1");
  await expect(createLocalFiles(join(root, "pools")).pin(reference(FILE), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    message: expect.stringContaining(reason),
  });
});

test("a pointer names the object that the run gets", async () => {
  await writeFile(join(root, "pools", POOL, POOL, FILE), '{"maps": [{"a": 1}]}');
  const files = createLocalFiles(join(root, "pools"));
  const pin = (pointer: string) => files.pin({ ...reference(FILE), pointer }, OWNER);
  expect(await pin("/maps/0")).toMatchObject({ bytes: 20, range: { start: 10, end: 18 } });
  for (const pointer of ["/maps", "/maps/1", "maps"])
    await expect(pin(pointer)).rejects.toMatchObject({ code: "DATA_REFERENCE_INVALID" });
});
