import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createZygoteFolders } from "./zygote-folders.ts";
import { makeListable } from "../../testing/make-listable.ts";
import { SILENT } from "../../testing/silent-logger.ts";

let directory: string;
let problems: string[];
const logger = {
  ...SILENT,
  error: (_: Record<string, unknown>, message: string) => void problems.push(message),
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zygote-folders-"));
  problems = [];
});
afterEach(() => {
  makeListable(directory);
  rmSync(directory, { recursive: true, force: true });
});

function fill(path: string, files: number): void {
  mkdirSync(join(path, "deep/er"), { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(path, "deep/er", String(index)), "");
}

test("a folder that user code filled is removed while everything else goes on", async () => {
  const folders = createZygoteFolders(directory, logger);
  const folder = folders.create();
  fill(folder, 500);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  folders.discard(folder);
  expect(existsSync(join(folder, "deep/er/499"))).toBe(true);
  await folders.drain();
  isDone = true;
  expect(existsSync(folder)).toBe(false);
  expect(turns).toBeGreaterThan(500); // one turn of the event loop for each file at least
  expect(problems).toEqual([]);
});

test("folders that a killed process left are removed at the next start, without waiting for it", async () => {
  const killed = createZygoteFolders(directory, logger);
  fill(killed.create(), 20);
  writeFileSync(join(killed.createInputs().path, "data"), "");
  const next = createZygoteFolders(directory, logger);
  expect(readdirSync(join(directory, "z"))).toEqual([]);
  next.create();
  await next.drain();
  expect(readdirSync(directory).toSorted()).toEqual([expect.stringMatching(/^inputs-[0-9a-f]{32}$/), "z"]);
  makeListable(directory);
  expect(readdirSync(directory, { recursive: true })).toHaveLength(4);
  expect(readdirSync(join(directory, "z"))).toHaveLength(1);
});

test("a removal that was cut short is finished at the next start", async () => {
  fill(join(directory, "left-1-1"), 20);
  await createZygoteFolders(directory, logger).drain();
  expect(readdirSync(directory).toSorted()).toEqual([expect.stringMatching(/^inputs-/), "z"]);
});

test("links in a folder are removed, never what they lead to", async () => {
  const folders = createZygoteFolders(directory, logger);
  const folder = folders.create();
  const kept = join(directory, "kept");
  fill(kept, 3);
  symlinkSync(kept, join(folder, "link"));
  folders.discard(folder);
  await folders.drain();
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(join(kept, "deep/er"))).toHaveLength(3);
});

test("what else a run may leave in the place of a result is removed, and not opened", async () => {
  const folders = createZygoteFolders(directory, logger);
  const folder = folders.create();
  const kept = join(directory, "kept");
  writeFileSync(kept, "as it was");
  linkSync(kept, join(folder, "hard-link"));
  symlinkSync(kept, join(folder, "link"));
  mkdirSync(join(folder, "result"));
  // Whoever opens a fifo without a writer waits for ever.
  execFileSync("mkfifo", [join(folder, "fifo")]);
  if (process.getuid?.() === 0) execFileSync("mknod", [join(folder, "device"), "c", "1", "3"]);
  writeFileSync(join(folder, "sparse"), "");
  truncateSync(join(folder, "sparse"), 1e12);
  folders.discard(folder);
  await folders.drain();
  expect([existsSync(folder), problems]).toEqual([false, []]);
  expect(readFileSync(kept, "utf8")).toBe("as it was");
});

test("the folder of inputs can be entered and not listed, whatever the umask is", () => {
  const umask = process.umask(0o077);
  onTestFinished(() => void process.umask(umask));
  const folders = createZygoteFolders(directory, logger);
  const [folder, inputs] = [folders.create(), folders.createInputs()];
  const modes = [folder, join(folder, "in"), inputs.path].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o711, process.getuid?.() === 0 ? 0o711 : 0o311, 0o711]);
});

test("a folder that cannot be removed is logged, and the next one is removed all the same", async () => {
  const folders = createZygoteFolders(directory, logger);
  const file = join(directory, "z/file");
  writeFileSync(file, "");
  folders.discard(join(file, "below"));
  const folder = folders.create();
  folders.discard(folder);
  await folders.drain();
  expect(problems).toEqual(["a folder could not be removed"]);
  expect(existsSync(folder)).toBe(false);
});
