import { chmodSync, linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* A data pool is a folder of hard links to objects of the platform: a run reads it, and changes nothing. */

const POOL_ID = "11111111-1111-4111-8111-111111111111";

const PROGRAM = `
import os
from dataclasses import dataclass
from platform_service import DataPool

@dataclass
class Params:
    maps: DataPool

def attempt(done, name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass

# At level C, calls seem to succeed that change nothing.
def alter(path, call):
    before = os.stat(path).st_ctime_ns
    call()
    if os.stat(path).st_ctime_ns == before:
        raise PermissionError

def write(path, flags):
    descriptor = os.open(path, flags)
    try:
        os.write(descriptor, b"destroyed")
    finally:
        os.close(descriptor)

def run(params: Params):
    pool, done = params.maps, []
    path, folder = pool.file("a.json"), pool.path
    with pool.open("a.json") as file:
        content = file.read()
    attempt(done, "write", lambda: write(path, os.O_WRONLY))
    attempt(done, "truncate", lambda: os.truncate(path, 0))
    attempt(done, "unlink", lambda: os.unlink(path))
    attempt(done, "rename", lambda: os.rename(path, path + "2"))
    attempt(done, "rename folder", lambda: os.rename(folder, folder + "2"))
    attempt(done, "make", lambda: write(folder + "/made", os.O_WRONLY | os.O_CREAT))
    attempt(done, "make folder", lambda: os.mkdir(folder + "/made"))
    attempt(done, "symlink", lambda: os.symlink("/etc", folder + "/link"))
    attempt(done, "chmod", lambda: alter(path, lambda: os.chmod(path, 0o777)))
    attempt(done, "chmod folder", lambda: alter(folder, lambda: os.chmod(folder, 0o777)))
    attempt(done, "times", lambda: alter(path, lambda: os.utime(path, (1, 1))))
    attempt(done, "neighbours", lambda: os.listdir(folder + "/../.."))
    try:
        listed = sorted(os.listdir(pool))
    except PermissionError:
        listed = None
    return {"names": list(pool), "sizes": pool.sizes, "id": pool.id, "content": content, "done": done, "listed": listed}
`;

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level);
  });
  afterAll(() => fixture.close());

  test.each(["auto", "spawn"] as const)(
    "a run reads the files of its data pool and changes neither them nor the folder (%s)",
    async (startMode) => {
      const contents = { "a.json": '{"a": 1}', "b \u00E4.txt": "zwei" };
      const objects = Object.entries(contents).map(([name, content], index) => {
        const path = join(fixture.directory, `object-${startMode}-${index}`);
        writeFileSync(path, content);
        chmodSync(path, 0o444);
        return { name, path, bytes: Buffer.byteLength(content), content };
      });
      const files = await fixture.runtime.stageInputs(async ({ makePool }) => {
        const folder = await makePool(0);
        for (const { name, path } of objects) linkSync(path, join(folder, name));
      });
      const pinned = objects.map(({ name, bytes, content }) => ({
        name,
        fileId: name,
        sha256: createHash("sha256").update(content).digest("hex"),
        bytes,
      }));
      const pins = { pools: [{ path: ["params", "maps"], dataPoolId: POOL_ID, files: pinned }] };
      const version = fixture.createVersion(PROGRAM, { startMode });
      const params = { maps: { dataPoolId: POOL_ID } };
      const { result, outcome } = await fixture.finish(version, { params, files, pins });
      expect([result, outcome]).toEqual([
        {
          names: Object.keys(contents),
          sizes: { "a.json": 8, "b \u00E4.txt": 4 },
          id: POOL_ID,
          content: '{"a": 1}',
          done: [],
          // Landlock lets nobody list what is below the folder of inputs.
          listed: level === "C" ? null : Object.keys(contents),
        },
        expect.anything(),
      ]);
      await waitFor("the links are removed", () => objects.every(({ path }) => statSync(path).nlink === 1));
      for (const { path, content } of objects) {
        expect(readFileSync(path, "utf8")).toBe(content);
        expect(statSync(path).mode & 0o777).toBe(0o444);
      }
    },
  );
});
