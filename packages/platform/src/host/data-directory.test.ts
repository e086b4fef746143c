import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath, geteuid } from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { recordSyncs } from "@platform/engine/testing/record-syncs";
import { openDataDirectory, readSecret } from "./data-directory.ts";

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const isRoot = geteuid?.() === 0;

let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "data-directory-"));
});

afterEach(async () => {
  const moved = await readFile(join(parent, "data", "location"), "utf8").catch(() => null);
  if (moved !== null) await rm(moved, { recursive: true, force: true });
  await rm(parent, { recursive: true, force: true });
});

describe("openDataDirectory", () => {
  test("keeps the data where it was asked to when other users can walk there", async () => {
    await chmod(parent, 0o755);
    expect((await openDataDirectory(join(parent, "data"), SILENT)).root).toBe(join(parent, "data"));
  });

  test.runIf(isRoot)(
    "as root keeps the data in an open place when the way is closed, and finds it again",
    async () => {
      await chmod(parent, 0o700);
      const first = await openDataDirectory(join(parent, "data"), SILENT);
      expect(first.root).toMatch(/^\/var\/lib\/platform\//);
      expect((await stat(first.root)).mode & 0o777).toBe(0o711);
      expect((await openDataDirectory(join(parent, "data"), SILENT)).root).toBe(first.root);
    },
  );

  test("says when a file is in the way", async () => {
    const file = join(parent, "data");
    await writeFile(file, "");
    await expect(openDataDirectory(file, SILENT)).rejects.toThrow(
      `The data directory ${file} cannot be used: ${file}: there is a file of that name. Choose another with --data-dir.`,
    );
    await rm(file);
  });

  test("gives every process a run directory of its own, short enough for sockets", async () => {
    await chmod(parent, 0o755);
    const runs = await Promise.all(
      [1, 2].map(async () => (await openDataDirectory(join(parent, "data"), SILENT)).run),
    );
    expect(new Set(runs).size).toBe(2);
    for (const run of runs) expect(Buffer.byteLength(run)).toBeLessThanOrEqual(60);
  });
});

describe("readSecret", () => {
  test("is made once, however many processes ask at a time, and only its owner can read it", async () => {
    const secrets = await Promise.all(Array.from({ length: 8 }, () => readSecret(parent, null)));
    expect(new Set(secrets).size).toBe(1);
    expect(secrets[0]?.length).toBeGreaterThanOrEqual(43);
    expect((await stat(join(parent, "secret"))).mode & 0o777).toBe(0o600);
  });

  test.runIf(process.platform === "linux")(
    "is on the disk before anything is encrypted with it",
    async () => {
      const syncs = await recordSyncs();
      await readSecret(parent, null).finally(syncs.stop);
      expect(syncs.paths).toEqual([expect.stringMatching(/\/secret\.[0-9a-f]+$/u), parent]);
    },
  );

  test("leaves nothing behind where it cannot be written", async () => {
    // Files that may have no byte fail as on a full disk: opened, and not written.
    const program = `import { readSecret } from ${JSON.stringify(import.meta.resolve("./data-directory.ts"))};
      await readSecret(${JSON.stringify(parent)}, null);`;
    const command = ["-c", 'ulimit -f 0; exec "$0" "$@"', execPath, "--input-type=module", "--eval", program];
    const { status, stderr } = spawnSync("sh", command, { encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("EFBIG")]);
    expect(await readdir(parent)).toEqual([]);
  });

  test("is the configured one where there is one", async () => {
    expect(await readSecret(parent, "configured")).toBe("configured");
  });
});
