import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY } from "@platform/engine/base/time";
import { createWheel } from "@platform/engine/testing/project-fixtures";
import { waitFor } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";

let cache: string;
let environments: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "platform-cache-"));
  await chmod(cache, 0o755);
  environments = join(cache, "environments");
});
afterEach(() => rm(cache, { recursive: true }));

/** As a server has left it that used it so many days ago. */
async function leaveEnvironment(key: string, days: number): Promise<void> {
  await mkdir(join(environments, `${key}-1`, "venv"), { recursive: true });
  await symlink(`${key}-1`, join(environments, key));
  await setUse(join(environments, `${key}-1`), days);
}

async function setUse(path: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY);
  await utimes(path, then, then);
}

const keyOf = (word: string) => `v3-${createHash("sha256").update(word).digest("hex")}`;
const listKeys = async () =>
  (await readdir(environments)).filter((name) => /^v\d+-[0-9a-f]{64}$/u.test(name));

test("what no server has used for two months is removed, and nothing that one uses, however long it has", async () => {
  const [old, recent] = [keyOf("old"), keyOf("recent")];
  await leaveEnvironment(old, 61);
  await leaveEnvironment(recent, 59);
  // The last that is removed.
  const pip = join(cache, "prepared", `${old}-2026-01`);
  await mkdir(pip, { recursive: true });
  await setUse(pip, 61);
  const project = await serveProject("import tiny\ndef run():\n    return {'tiny': tiny.VALUE}\n", {
    variables: { PLATFORM_CACHE_DIR: cache },
    files: {
      "requirements.txt": "./tiny-1.0-py3-none-any.whl\n",
      "tiny-1.0-py3-none-any.whl": createWheel("tiny", { "tiny.py": "VALUE = 42\n" }),
    },
  });
  try {
    const own = (await listKeys()).find((key) => key !== old && key !== recent) ?? "";
    await setUse(join(environments, await readlink(join(environments, own))), 100);
    await waitFor("what is old is gone", () => (existsSync(pip) ? undefined : true));
    expect((await listKeys()).toSorted()).toEqual([own, recent].toSorted());
    expect(await project.execute({})).toMatchObject({ tiny: 42 });
  } finally {
    await project.close();
  }
});
