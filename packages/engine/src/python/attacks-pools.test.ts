import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { ORDINARY_RUNNERS } from "../testing/ordinary-user.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { POOL_ID, stagePool } from "../testing/staged-pool.ts";
import type { VersionRunner } from "../testing/version-runner.ts";

/* A data pool is a folder of hard links to objects of the platform: a run reads it, and changes nothing. */

const USER = 65_534;

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
    attempt(done, "write after chmod", lambda: write(path, os.O_WRONLY))
    attempt(done, "make after chmod", lambda: write(folder + "/made", os.O_WRONLY | os.O_CREAT))
    attempt(done, "neighbours", lambda: os.listdir(folder + "/../.."))
    try:
        listed = sorted(os.listdir(pool))
    except PermissionError:
        listed = None
    return {"names": list(pool), "sizes": pool.sizes, "id": pool.id, "content": content, "done": done, "listed": listed}
`;

/** Looks for the data pools of other executions of its version, which run at the same time for other callers. */
const SIBLING = `
import os, re, time
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

def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""

def run(data, params: Params):
    if data["role"] == "victim":
        params.maps.open("a.json").close()
        print(os.path.basename(os.path.dirname(params.maps.path)), flush=True)
        while True:
            time.sleep(1)
    place, done = os.path.dirname(os.path.dirname(params.maps.path)), []
    if data["role"] == "told":
        return read(os.path.join(place, data["name"], "pool-0", "a.json")).decode()
    secret = "-".join(data["parts"]).encode()
    attempt(done, "list", lambda: os.listdir(place))
    attempt(done, "scan", lambda: list(os.scandir(f"/proc/self/root{place}")))
    attempt(done, "list after chmod", lambda: (os.chmod(place, 0o777), os.listdir(place)))
    attempt(done, "rename", lambda: os.rename(place, place + "2"))
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    files = ("cmdline", "environ", "maps", "mountinfo", "mem", "fd/3", "fd/4", "fd/5", "fd/6")
    found = b"".join(read(f"/proc/{pid}/{file}") for pid in others for file in files)
    done += ["content"] if secret in found else []
    done += ["name"] if re.search(rb"/in/[0-9a-f]{32}", found) else []
    return done
`;
const SECRET = "5b3f-pool-of-the-victim";

/** A file as the platform keeps its objects. */
function createObject(folder: string, content: string): string {
  const path = join(folder, `object-${readdirSync(folder).length}`);
  writeFileSync(path, content);
  chmodSync(path, 0o444);
  return path;
}

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
      const objects = Object.entries(contents).map(([name, content]) => ({
        name,
        path: createObject(fixture.directory, content),
        content,
      }));
      const version = fixture.createVersion(PROGRAM, { startMode });
      const pool = await stagePool(
        fixture,
        Object.fromEntries(objects.map(({ name, path }) => [name, path])),
      );
      const { result, outcome } = await fixture.finish(version, pool);
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

  test("a run finds neither the data pool of an execution beside it nor what is in it", async () => {
    const version = fixture.createVersion(SIBLING);
    const own = createObject(fixture.directory, "mine");
    const seen = createObject(fixture.directory, SECRET);
    const victim = fixture.start(version, {
      ...(await stagePool(fixture, { "a.json": seen })),
      data: { role: "victim" },
    });
    await waitFor("the victim runs", () => victim.lines.length > 0);
    const name = victim.lines[0]?.message;
    const attack = async (data: unknown) =>
      (await fixture.finish(version, { ...(await stagePool(fixture, { "b.json": own })), data })).result;
    expect(await attack({ role: "attacker", parts: SECRET.split("-") })).toEqual({ value: [] });
    // The attack looks in the right place: who is told the name reads the content.
    expect(await attack({ role: "told", name })).toEqual({ value: SECRET });
    victim.kill({ code: "CANCELLED", detail: "It was seen." });
    await victim.ended;
  });
});

describe.each(ORDINARY_RUNNERS)("run by an ordinary user, %s", (how, createRunner) => {
  let runner: VersionRunner;
  let folder: string;
  beforeAll(async () => {
    runner = await createRunner();
    folder = mkdtempSync(join(tmpdir(), "objects-"));
    chmodSync(folder, 0o755);
  });
  afterAll(async () => {
    await runner.close();
    rmSync(folder, { recursive: true });
  });

  test("a run reads the files of its data pool, and changes neither them nor the folder, though its user owns both", async () => {
    const path = createObject(folder, '{"a": 1}');
    if (process.getuid?.() === 0) chownSync(path, USER, USER);
    const { result, outcome } = await runner.run({ program: PROGRAM, pool: { "a.json": path } });
    expect([result, outcome]).toEqual([
      {
        names: ["a.json"],
        sizes: { "a.json": 8 },
        id: POOL_ID,
        content: '{"a": 1}',
        done: [],
        listed: how === "without" ? null : ["a.json"],
      },
      expect.anything(),
    ]);
    await waitFor("the link is removed", () => statSync(path).nlink === 1);
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(['{"a": 1}', 0o444]);
  });
});
