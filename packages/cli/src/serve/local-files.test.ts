import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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
  expect(await files.read(reference("../../../secret"), OWNER)).toBeNull();
  await expect(files.check(reference("../../../secret"), OWNER)).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});

test("a file that vanishes between start and run is none", async () => {
  const files = createLocalFiles(join(root, "pools"));
  const path = join(root, "pools", POOL, POOL, FILE);
  await writeFile(path, '{"a": 1}');
  await files.check(reference(FILE), OWNER);
  expect(Buffer.from((await files.read(reference(FILE), OWNER)) ?? []).toString()).toBe('{"a": 1}');
  await rm(path);
  expect(await files.read(reference(FILE), OWNER)).toBeNull();
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
