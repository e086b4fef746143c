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

/** Those that were there before. */
const listLeft = async () => (await readdir(environments)).filter((name) => name.startsWith("left"));

test("what no server has used for two months is removed, and nothing that one uses, however long it has", async () => {
  await leaveEnvironment("left-long-ago", 61);
  await leaveEnvironment("left-lately", 59);
  // The last that is removed.
  const pip = join(cache, "prepared", "left-long-ago");
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
    const own = (await readdir(environments)).find((name) => /^v\d+-[0-9a-f]{64}$/u.test(name)) ?? "";
    await setUse(join(environments, await readlink(join(environments, own))), 100);
    await waitFor("what is old is gone", () => (existsSync(pip) ? undefined : true));
    expect(await listLeft()).toEqual(["left-lately", "left-lately-1"]);
    expect(await readdir(environments)).toContain(own);
    expect(await project.execute({})).toMatchObject({ tiny: 42 });
  } finally {
    await project.close();
  }
});
