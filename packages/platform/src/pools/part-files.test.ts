import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PART_FILES = new URL("part-files.ts", import.meta.url).href;

/** On a disk that has room for one more file. */
const PROGRAM = `
const { createPart, readPlace } = await import(${JSON.stringify(PART_FILES)});
const ended = [];
const note = async (work) => ended.push(await work().then(() => "made", (error) => error.name));
await note(() => createPart(process.argv[1], "first"));
await note(() => createPart(process.argv[1], "second"));
await note(() => readPlace(process.argv[1]));
console.log(ended.join());
`;

test("says of a disk that has room for no more files that it is full", async () => {
  const mounted = 'mount -t tmpfs -o nr_inodes=2 tmpfs "$1" && exec "$2" --input-type=module -e "$0" "$1"';
  const folder = await mkdtemp(join(tmpdir(), "platform-small-disk-"));
  const words = ["--user", "--map-root-user", "--mount", "sh", "-c", mounted, PROGRAM, folder, execPath];
  try {
    const { stdout } = await promisify(execFile)("unshare", words);
    expect(stdout.trim()).toBe("made,StoreFull,StoreFull");
  } finally {
    await rm(folder, { recursive: true });
  }
});
