import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MEGABYTE } from "../base/bytes.ts";
import { catchProjectError, createRawZip, createWorkspace } from "../testing/project-fixtures.ts";
import { ProjectError } from "./project-error.ts";
import type { RawEntry, Workspace } from "../testing/project-fixtures.ts";
import { hashArchive, unpackProject } from "./unpack.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

async function unpack(archive: Buffer, limits = {}) {
  const path = join(workspace.path, "archive.zip");
  await writeFile(path, archive);
  const unpacked = await unpackProject(path, join(workspace.path, "nest", "target"), limits);
  // Whoever only reads the archive comes to the same answer.
  expect(await hashArchive(path, limits)).toEqual(unpacked);
  return unpacked;
}

/** Unpacks what must be refused, and proves that nothing was left, inside or outside of the target. */
async function refuse(archive: Buffer, limits = {}) {
  await mkdir(join(workspace.path, "nest"));
  const error = await catchProjectError(unpack(archive, limits));
  const whenRead = await catchProjectError(hashArchive(join(workspace.path, "archive.zip"), limits));
  expect([whenRead.code, whenRead.detail]).toEqual([error.code, error.detail]);
  expect(await readdir(join(workspace.path, "nest"))).toEqual([]);
  expect((await readdir(workspace.path)).sort()).toEqual(["archive.zip", "nest"]);
  return error;
}

const GOOD: RawEntry = { name: "good.txt", content: Buffer.from("good") };

const ATTACKS: readonly (readonly [string, readonly RawEntry[], RegExp])[] = [
  ["climbs out", [GOOD, { name: "../evil.txt" }], /leads out|invalid relative path/],
  ["climbs out from within", [GOOD, { name: "a/../../evil.txt" }], /leads out|invalid relative path/],
  ["is absolute", [GOOD, { name: "/tmp/evil.txt" }], /absolute path/],
  ["has a drive letter", [GOOD, { name: "C:/evil.txt" }], /absolute path/],
  ["has backslashes", [GOOD, { name: "..\\evil.txt" }], /backslash|invalid characters/],
  ["has a NUL", [GOOD, { name: "evil.txt\0.png" }], /control character/],
  ["has a line break", [GOOD, { name: "evil\n.txt" }], /control character/],
  ["has no name", [GOOD, { name: "" }], /has no name/],
  ["has an empty part", [GOOD, { name: "a//b" }], /empty part/],
  ["has a dot part", [GOOD, { name: "./a" }], /empty part|'\.'/],
  ["is not UTF-8", [GOOD, { name: Buffer.from([0x61, 0xff]) }], /not UTF-8/],
  ["is too long", [GOOD, { name: "x".repeat(300) }], /longer than 255/],
  ["is too deep", [GOOD, { name: "d/".repeat(100) + "f" }], /deeper than/],
  ["is there twice", [GOOD, GOOD], /is there twice/],
  ["differs by case only", [GOOD, { name: "GOOD.txt" }], /upper and lower case/],
  ["is file and folder", [GOOD, { name: "good.txt/evil" }], /file and a folder/],
  ["is folder and file", [{ name: "good.txt/evil" }, GOOD], /file and a folder/],
  [
    "is a symbolic link",
    [GOOD, { name: "link", content: Buffer.from("/etc/passwd"), mode: 0o120777 }],
    /symbolic link/,
  ],
  ["is a device", [GOOD, { name: "device", mode: 0o020666 }], /not a plain file/],
  ["is a pipe", [GOOD, { name: "pipe", mode: 0o010666 }], /not a plain file/],
  ["is a folder by mode only", [GOOD, { name: "folder", mode: 0o040755 }], /not a plain file/],
  [
    "is a folder with content",
    [GOOD, { name: "folder/", mode: 0o040755, content: Buffer.from("x") }],
    /folder with content/,
  ],
  ["is encrypted", [GOOD, { name: "secret", content: Buffer.from("x"), flags: 0x801 }], /encrypted/],
  [
    "has an unknown method",
    [GOOD, { name: "odd", content: Buffer.from("x"), method: 14 }],
    /method other than/,
  ],
  [
    "has a wrong checksum",
    [GOOD, { name: "odd", content: Buffer.from("x"), claimedChecksum: 1 }],
    /checksum/,
  ],
  [
    "is longer than it says",
    [GOOD, { name: "odd", content: Buffer.from("xyz"), claimedSize: 1 }],
    /longer than its header/,
  ],
  [
    "is shorter than it says",
    [GOOD, { name: "odd", content: Buffer.from("xyz"), claimedSize: 9 }],
    /shorter than its header/,
  ],
];

test.each(ATTACKS)(
  "an entry that %s is refused, and nothing is left behind",
  async (_name, entries, expected) => {
    const error = await refuse(createRawZip(entries));
    expect(error.code).toBe("INVALID_ARCHIVE");
    expect(error.detail).toMatch(expected);
  },
);

test("the same raw archive without an attack is unpacked: the refusals above are not of its making", async () => {
  await mkdir(join(workspace.path, "nest"));
  expect(
    await unpack(createRawZip([GOOD, { name: "folder/", mode: 0o040755 }, { name: "a/b.txt" }])),
  ).toMatchObject({ files: 2, bytes: 4 });
  expect((await readdir(join(workspace.path, "nest", "target"))).sort()).toEqual(["a", "good.txt"]);
});

test("what is unpacked is what the hash says, without folders that have no files: another organisation with the same hash gets it", async () => {
  await mkdir(join(workspace.path, "nest"));
  const target = join(workspace.path, "nest", "target");
  const { hash } = await unpack(createRawZip([GOOD]));
  const plain = await readdir(target, { recursive: true });
  await rm(target, { recursive: true });
  // An empty folder is a package to Python: `import numpy` would succeed.
  const folders = [
    { name: "numpy/", mode: 0o040755 },
    { name: "src/numpy/", mode: 0o040755 },
  ];
  expect((await unpack(createRawZip([GOOD, ...folders]))).hash).toBe(hash);
  expect(await readdir(target, { recursive: true })).toEqual(plain);
});

test.each(["", "hello", "PK\u0003\u0004 not really"])("what is no ZIP file is refused: %j", async (text) => {
  const error = await refuse(Buffer.from(text));
  expect(error).toMatchObject({ code: "INVALID_ARCHIVE", detail: expect.stringContaining("not a ZIP file") });
});

test("an archive that was cut off anywhere is refused", async () => {
  const whole = createRawZip([GOOD, { name: "b", content: Buffer.alloc(5000, "abc") }]);
  await mkdir(join(workspace.path, "nest"));
  for (let length = 0; length < whole.length; length += 7) {
    expect((await catchProjectError(unpack(whole.subarray(0, length)))).code).toBe("INVALID_ARCHIVE");
  }
  expect(await readdir(join(workspace.path, "nest"))).toEqual([]);
});

test("random damage never gets out of the target, and never is anything but a clear refusal", async () => {
  const whole = createRawZip([GOOD, { name: "a/b", content: Buffer.alloc(500, "abc") }]);
  for (let position = 0; position < whole.length; position += 1) {
    const damaged = Buffer.from(whole);
    damaged[position] = (damaged[position] ?? 0) ^ 0xff;
    const nest = join(workspace.path, "nest");
    await mkdir(nest, { recursive: true });
    const target = join(nest, `t${position}`);
    const path = join(workspace.path, "archive.zip");
    await writeFile(path, damaged);
    const [outcome] = await Promise.allSettled([unpackProject(path, target)]);
    const reason: unknown = outcome.status === "rejected" ? outcome.reason : null;
    expect(reason === null || reason instanceof ProjectError ? "fine" : reason).toBe("fine");
  }
  expect((await readdir(workspace.path)).sort()).toEqual(["archive.zip", "nest"]);
  expect((await readdir(join(workspace.path, "nest"))).filter((name) => name.includes("unpack-"))).toEqual(
    [],
  );
});

test("a bomb that says its size is refused before a byte is written", async () => {
  const error = await refuse(
    createRawZip([{ name: "bomb", content: Buffer.alloc(1 * MEGABYTE), claimedSize: 3 * 1024 * MEGABYTE }]),
  );
  expect(error).toMatchObject({ code: "ARCHIVE_TOO_LARGE", detail: expect.stringContaining("512 MB") });
});

/** Microseconds. */
async function measureProcessor(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user;
}

test("a bomb that lies about its size is stopped after the bytes that it admits", async () => {
  const content = Buffer.alloc(300 * MEGABYTE);
  const archive = createRawZip([{ name: "bomb", content, claimedSize: 10 }]);
  const deflated = deflateRawSync(content, { level: 1 });
  const whole = await measureProcessor(async () => inflateRawSync(deflated));
  const part = await measureProcessor(async () => {
    const error = await refuse(archive);
    expect(error.detail).toContain("longer than its header says");
  });
  expect(part).toBeLessThan(whole / 2);
});

test("many entries that each stay under the limits are refused by their sum", async () => {
  const entries = Array.from({ length: 5 }, (_, index) => ({
    name: `part-${index}`,
    content: Buffer.alloc(1 * MEGABYTE, index),
  }));
  const error = await refuse(createRawZip(entries), { totalBytes: 4 * MEGABYTE });
  expect(error).toMatchObject({ code: "ARCHIVE_TOO_LARGE", detail: "The project is larger than 4 MB." });
});

test("content that is blown up beyond the ratio is refused as a bomb", async () => {
  const error = await refuse(createRawZip([{ name: "zeros", content: Buffer.alloc(100 * MEGABYTE) }]));
  expect(error).toMatchObject({ code: "ARCHIVE_TOO_LARGE", detail: expect.stringContaining("bomb") });
});

test("an archive with too many entries is refused, also when it claims to have few", async () => {
  const entries = Array.from({ length: 30 }, (_, index) => ({ name: `f${index}` }));
  expect((await refuse(createRawZip(entries), { files: 20 })).code).toBe("ARCHIVE_TOO_LARGE");
  // The excess that the header hides is not read at all.
  expect(await unpack(createRawZip(entries, 5), { files: 20 })).toMatchObject({ files: 5 });
});

test("a table of contents that would fill the memory is refused", async () => {
  const comment = Buffer.alloc(60_000);
  const entries = Array.from({ length: 300 }, (_, index) => ({ name: `f${index}`, comment }));
  const error = await refuse(createRawZip(entries));
  expect(error).toMatchObject({
    code: "ARCHIVE_TOO_LARGE",
    detail: expect.stringContaining("table of contents"),
  });
});

test("files and folders get our modes whatever the archive and the umask say", async () => {
  await mkdir(join(workspace.path, "nest"));
  const before = process.umask(0o077);
  try {
    await unpack(
      createRawZip([
        { name: "tool", mode: 0o104777 },
        { name: "a/closed", mode: 0o100000 },
      ]),
    );
  } finally {
    process.umask(before);
  }
  const target = join(workspace.path, "nest", "target");
  const modes = await Promise.all(
    ["", "tool", "a", "a/closed"].map(async (path) => (await stat(join(target, path))).mode & 0o7777),
  );
  expect(modes.map((mode) => mode.toString(8))).toEqual(["755", "644", "755", "644"]);
});

test("a target that holds something already is never touched", async () => {
  const target = join(workspace.path, "nest", "target");
  await mkdir(target, { recursive: true });
  await writeFile(join(target, "mine.txt"), "mine");
  await expect(unpack(createRawZip([GOOD]))).rejects.toThrow(/ENOTEMPTY|EEXIST/);
  expect(await readdir(join(workspace.path, "nest"))).toEqual(["target"]);
  expect(await readFile(join(target, "mine.txt"), "utf8")).toBe("mine");
});

test("an archive made by another program is unpacked", async () => {
  await mkdir(join(workspace.path, "nest"));
  const script =
    "import sys,zipfile\nwith zipfile.ZipFile(sys.argv[1],'w') as z:\n z.writestr('a/b.txt','hello')\n z.writestr('ü.txt','x')\n z.mkdir('empty') if hasattr(z,'mkdir') else None";
  execFileSync("python3", ["-c", script, join(workspace.path, "python.zip")]);
  await unpackProject(join(workspace.path, "python.zip"), join(workspace.path, "nest", "target"));
  expect(await readFile(join(workspace.path, "nest", "target", "a", "b.txt"), "utf8")).toBe("hello");
});
