import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isUuid } from "@platform/engine/base/uuid";
import { findFile, readPools } from "./pool-folder.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(root, "Maps"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const write = (path: string, content: string = "{}") => writeFile(join(root, path), content);
const namesOf = async () =>
  (await readPools(root)).pools.flatMap(({ name, files }) => files.map((file) => `${name}/${file.name}`));

test("ids follow from the names alone: the same in every folder, and whatever the content", async () => {
  await write("Maps/a.json");
  await write("Maps/b.json");
  const before = await readPools(root);
  await write("Maps/a.json", '{"edited": true}');
  expect(await readPools(root)).toEqual(before);
  // Written down in 2026: references in scripts of developers have them.
  expect(before.pools[0]?.files[0]?.reference).toEqual({
    dataPoolId: "eb39777e-2036-8bdf-b8e6-44ec38fce063",
    dataSourceDescriptorId: "92ec5a88-2341-8012-93d2-b10ba901ea38",
    fileId: "16f872eb-2c65-855b-b90c-41a5620046b3",
  });
  const ids = before.pools.flatMap(({ id, files }) => [
    id,
    ...files.flatMap(({ reference }) => [reference.dataSourceDescriptorId, reference.fileId]),
  ]);
  expect(ids.every(isUuid)).toBe(true);
  expect(new Set(ids).size).toBe(5);
});

test.each([
  ["the list", (items: readonly unknown[]) => ({ items, nextCursor: null })],
  ["what pools ls --json prints", (items: readonly unknown[]) => items],
  ["all pages of the list", (items: readonly unknown[]) => items.map((item) => ({ items: [item] }))],
])(
  "%s of the platform beside the folder gives its files the ids that they have there",
  async (_what, pagesOf) => {
    const reference = {
      dataPoolId: "11111111-1111-4111-8111-111111111111",
      dataSourceDescriptorId: "22222222-2222-4222-8222-222222222222",
      fileId: "ABCDEF33-3333-4333-8333-333333333333",
    };
    await write("Maps/a.json");
    await write("Maps/b.json");
    const items = [{ name: "a.json", bytes: 2, reference }, { name: "other.json", reference }, 7];
    await write("Maps.json", JSON.stringify(pagesOf(items)));
    const { pools, notes } = await readPools(root);
    expect(pools[0]?.id).toBe(reference.dataPoolId);
    expect(findFile(pools, { ...reference, fileId: reference.fileId.toLowerCase() })?.name).toBe("a.json");
    expect(pools[0]?.files[1]?.reference.dataPoolId).toBe(reference.dataPoolId);
    expect(notes).toEqual([expect.stringContaining("an item without name or reference")]);
  },
);

test.each(["", "[1]", '{"items": 1}', "\u0000"])(
  "a list beside the folder that is %j is ignored, and noted",
  async (text) => {
    await write("Maps/a.json");
    const { pools } = await readPools(root);
    await write("Maps.json", text);
    const read = await readPools(root);
    expect(read.pools).toEqual(pools);
    expect(read.notes).toEqual([expect.stringContaining("Maps.json")]);
  },
);

test("only regular files inside the pool are files of it: no links out, pipes, devices, folders, hidden or hostile names", async () => {
  await write("Maps/a.json");
  await write("outside.json");
  await mkdir(join(root, "Other"));
  await write("Other/b.json");
  await mkdir(join(root, "Maps/folder"));
  await symlink("a.json", join(root, "Maps/link.json"));
  await symlink("../outside.json", join(root, "Maps/out.json"));
  await symlink("../Other/b.json", join(root, "Maps/neighbour.json"));
  await symlink("/dev/zero", join(root, "Maps/device.json"));
  await symlink("nowhere", join(root, "Maps/dangling.json"));
  await symlink("/etc", join(root, "Linked"));
  execFileSync("mkfifo", [join(root, "Maps/pipe.json")]);
  await write("Maps/.hidden.json");
  await write("Maps/A.json");
  for (const name of ["line\nbreak.json", "right\u202Eleft.json", "back\\slash.json", "ends."])
    await write(`Maps/${name}`);
  expect(await namesOf()).toEqual(["Maps/A.json", "Maps/link.json", "Other/b.json"]);
  expect((await readPools(root)).notes).toHaveLength(12);
});

test("a folder whose name is a UUID is the pool of this id; of two of one id the first counts", async () => {
  const id = "44444444-4444-4444-8444-444444444444";
  await mkdir(join(root, id));
  await write("Maps/a.json");
  expect((await readPools(root)).pools.map((pool) => pool.id)).toContain(id);
  const reference = { dataPoolId: id, dataSourceDescriptorId: id, fileId: id };
  await write("Maps.json", JSON.stringify({ items: [{ name: "a.json", reference }] }));
  const { pools, notes } = await readPools(root);
  expect(pools).toMatchObject([{ id, name: id }]);
  expect(notes).toEqual([expect.stringContaining("another one has its id")]);
});

test("a folder that does not exist has no pools", async () => {
  expect(await readPools(join(root, "nowhere"))).toEqual({ pools: [], notes: [] });
});
