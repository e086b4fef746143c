import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findAccount } from "./account.ts";
import { provideBinaries } from "./binaries.ts";

const execute = promisify(execFile);

test.skipIf(process.getuid?.() !== 0)(
  "programs in a private home are copied to where the server's user can run them",
  async () => {
    const root = await mkdtemp(join(tmpdir(), "platform-binaries-"));
    try {
      await chmod(root, 0o755);
      const home = join(root, "home");
      const directory = join(root, "data");
      await mkdir(directory);
      const installed = await provideBinaries(directory, null);
      await cp(join(installed.postgres.path, "..", "..", ".."), home, {
        recursive: true,
        verbatimSymlinks: true,
      });
      await chmod(home, 0o700);
      const account = await findAccount("nobody");
      const copied = await provideBinaries(directory, account, home);
      expect(copied.postgres.path.startsWith(directory)).toBe(true);
      const { stdout } = await execute(copied.postgres.path, ["--version"], {
        uid: account?.uid,
        gid: account?.gid,
        cwd: "/",
      });
      expect(stdout).toContain(`(PostgreSQL) ${copied.major}.`);
    } finally {
      await rm(root, { recursive: true });
    }
  },
);

test("programs whose library links npm did not make are copied and linked", async () => {
  const root = await mkdtemp(join(tmpdir(), "platform-binaries-"));
  try {
    const installed = await provideBinaries(root, null);
    const unlinked = join(root, "package");
    await cp(join(installed.postgres.path, "..", "..", ".."), unlinked, {
      recursive: true,
      verbatimSymlinks: true,
    });
    await rm(join(unlinked, "native", "lib", "libicuuc.so.60"), { force: true });
    const repaired = await provideBinaries(root, null, unlinked);
    expect(repaired.postgres.path.startsWith(join(root, "program-"))).toBe(true);
    const { stdout } = await execute(repaired.postgres.path, ["--version"]);
    expect(stdout).toContain(`(PostgreSQL) ${repaired.major}.`);
  } finally {
    await rm(root, { recursive: true });
  }
});
