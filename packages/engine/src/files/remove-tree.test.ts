import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeTree } from "./remove-tree.ts";

const STRANGER = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
const ROUNDS = 60;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "remove-tree-"));
  chmodSync(directory, 0o755);
});
afterEach(() => execFileSync("rm", ["-rf", directory]));

test("files, links and folders go, however deep they lie, whatever their names and modes are", async () => {
  const tree = join(directory, "tree");
  mkdirSync(tree);
  // Python names files by bytes and walks down without naming the whole way.
  execFileSync("python3", [
    "-c",
    `
import os, sys
os.chdir(sys.argv[1])
os.symlink("/", "link")
open(b"\\xff\\n", "w").close()
os.mkdir(b"\\xfe")
open(b"\\xfe/\\xff", "w").close()
for level in range(60):
    os.mkdir("d" * 200); os.mkdir("closed", 0)
    open("file", "w").close()
    os.chdir("d" * 200)
`,
    tree,
  ]);
  await removeTree(tree);
  expect(readdirSync(directory)).toEqual([]);
});

test("one file and a link to a folder go, what the link names stays, and nothing is no error", async () => {
  mkdirSync(join(directory, "kept"));
  writeFileSync(join(directory, "kept", "file"), "");
  writeFileSync(join(directory, "file"), "");
  symlinkSync("kept", join(directory, "link"));
  for (const name of ["file", "link", "nothing"]) await removeTree(join(directory, name));
  expect(existsSync(join(directory, "kept", "file"))).toBe(true);
  expect(readdirSync(directory)).toEqual(["kept"]);
});

/** Exchanges a folder for a link and back as fast as it can, until its parent is taken away from it. */
const EXCHANGE = `
import os, sys
folder, target = sys.argv[1:]
os.chdir(folder)
os.mkdir("there")
for number in range(40): open("there/%d" % number, "w").close()
os.symlink(target, "link")
print("ready", flush=True)
while True:
    try:
        os.rename("there", "aside"); os.rename("link", "there")
        os.rename("there", "link"); os.rename("aside", "there")
    except OSError: break
`;

test.runIf(isRoot)(
  "a program that exchanges folders for links while they are removed gets nothing else removed",
  async () => {
    const kept = join(directory, "kept");
    mkdirSync(kept);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let index = 0; index < 40; index += 1) writeFileSync(join(kept, String(index)), "");
      const tree = join(directory, "tree");
      const inner = join(tree, "inner");
      mkdirSync(inner, { recursive: true });
      chownSync(inner, STRANGER.uid, STRANGER.gid);
      const stranger = spawn("python3", ["-c", EXCHANGE, inner, kept], {
        ...STRANGER,
        stdio: ["ignore", "pipe", "ignore"],
      });
      const ended = new Promise((resolve) => stranger.once("close", resolve));
      await new Promise((resolve) => stranger.stdout.once("data", resolve));
      await removeTree(tree);
      stranger.kill("SIGKILL");
      await ended;
      expect(readdirSync(kept)).toHaveLength(40);
      expect(existsSync(tree)).toBe(false);
    }
  },
);
