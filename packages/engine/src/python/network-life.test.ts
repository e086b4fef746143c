import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findExecutables, SYSTEM_FOLDERS } from "../host/find-executables.ts";
import { asOrdinaryUser } from "../testing/as-user.ts";
import type { Command } from "../testing/as-user.ts";
import { RUNNERS } from "../testing/ordinary-user.ts";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { createOutsideWorld, OUTSIDE, OUTSIDE_PORT, SILENT_PORT } from "../testing/outside-world.ts";
import type { OutsideWorld } from "../testing/outside-world.ts";

const PARENT = fileURLToPath(new URL("../testing/python-parent.ts", import.meta.url));
/** Others get no network of their own that could be left behind. */
const IS_ROOT = process.getuid?.() === 0;

let world: OutsideWorld;
let fixture: Fixture;
beforeAll(async () => {
  if (!IS_ROOT) return;
  world = await createOutsideWorld();
  fixture = await createFixture();
});
afterAll(async () => {
  if (!IS_ROOT) return;
  await fixture.close();
  await world.close();
});

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly network: string;
}

function listProcesses(): readonly Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ");
        return [{ pid: Number(name), parent, command, network: readlinkSync(`/proc/${name}/ns/net`) }];
      } catch {
        return []; // it has ended
      }
    });
}

function listDescendants(root: number): readonly Process[] {
  const all = listProcesses();
  const found = new Set([root]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** Those that give versions of this process their way out, without their launchers. */
function listSlirps(root = process.pid): readonly Process[] {
  return listDescendants(root).filter(({ command }) => /^\S*slirp4netns /u.test(command));
}

const CONNECT = `
import socket
def run():
    try:
        with socket.create_connection(("${OUTSIDE}", ${OUTSIDE_PORT}), timeout=5) as s:
            return s.recv(10).decode()
    except OSError as error:
        return str(error)
`;

test.runIf(IS_ROOT)("no slirp4netns and no network namespace outlives its zygote", async () => {
  const version = fixture.createVersion(CONNECT);
  expect((await fixture.finish(version)).result).toEqual({ value: "outside" });
  expect(listSlirps()).toHaveLength(1);
  await fixture.runtime.retire(version.id);
  await waitFor("slirp4netns has ended", () => listSlirps().length === 0);
  const own = readlinkSync("/proc/self/ns/net");
  const held = readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
  expect(held.filter((target) => target.startsWith("net:") && target !== own)).toEqual([]);
});

/** Fills what a connection holds, of which nothing is read. */
const CONNECT_OFTEN = `
import errno, socket
def run():
    connected, failures = [], set()
    for _ in range(600):
        s = socket.socket()
        s.settimeout(5)
        try:
            s.connect(("${OUTSIDE}", ${SILENT_PORT}))
            connected.append(s)
            s.setblocking(False)
            while True:
                s.send(bytes(65536))
        except BlockingIOError:
            pass
        except OSError as error:
            failures.add(errno.errorcode.get(error.errno, str(error)))
    return [len(connected), sorted(failures)]
`;

describe.runIf(IS_ROOT).each(RUNNERS)("of versions that are run by %s", (_who, createRunner) => {
  test("a slirp4netns that ended is replaced, and its version has its network again", async () => {
    const runner = await createRunner();
    try {
      expect(await runner.run({ program: CONNECT })).toMatchObject({ result: { value: "outside" } });
      const [first] = listSlirps();
      process.kill(first?.pid ?? 0, "SIGKILL");
      await waitFor("another one runs", () => {
        const [now] = listSlirps();
        return now !== undefined && now.pid !== first?.pid;
      });
      await expect
        .poll(() => runner.run({ program: CONNECT }))
        .toMatchObject({ result: { value: "outside" } });
    } finally {
      await runner.close();
    }
    await waitFor("the other one has ended", () => listSlirps().length === 0);
  });

  test("connections of a version cannot make its slirp4netns grow without end: it fails them, and lives on", async () => {
    const runner = await createRunner();
    try {
      const { result } = await runner.run({ program: CONNECT_OFTEN });
      const { value } = result as {
        readonly value: readonly [connected: number, failures: readonly string[]];
      };
      expect(value).toEqual([expect.any(Number), ["ENETUNREACH"]]);
      expect(value[0]).toBeGreaterThan(400);
      expect(value[0]).toBeLessThan(512);
      const [slirp, ...others] = listSlirps();
      expect(others).toEqual([]);
      const bytes = String(256 * 2 ** 20);
      const limits = readFileSync(`/proc/${slirp?.pid}/limits`, "utf8");
      expect(limits).toMatch(new RegExp(`^Max address space +${bytes} +${bytes} +bytes`, "mu"));
      const other = { program: `${CONNECT}# another version` };
      expect(await runner.run(other)).toMatchObject({ result: { value: "outside" } });
    } finally {
      await runner.close();
    }
  });
});

test.runIf(IS_ROOT)(
  "an interpreter that ends at once is STARTUP_ERROR, also when its end is heard of late",
  async () => {
    const busy = setInterval(() => {
      for (const end = performance.now() + 40; performance.now() < end;);
    }, 5);
    try {
      for (let turn = 0; turn < 5; turn += 1) {
        const version = fixture.createVersion("", { interpreter: "/usr/bin/true" });
        expect((await fixture.finish(version)).outcome).toMatchObject({ code: "STARTUP_ERROR" });
      }
    } finally {
      clearInterval(busy);
    }
  },
);

test.runIf(IS_ROOT)("a slirp4netns that cannot be started again at once is tried again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bubblewrap-"));
  const link = join(folder, "bwrap");
  const [bubblewrap] = await findExecutables("bwrap", SYSTEM_FOLDERS);
  const show = (): void => symlinkSync(bubblewrap?.path ?? "", link);
  chmodSync(folder, 0o755);
  show();
  const own = await createFixture({ sandbox: await findTestSandbox({ bubblewrapPath: link }) });
  try {
    await own.finish(own.createVersion(CONNECT));
    const [first] = listSlirps();
    rmSync(link);
    process.kill(first?.pid ?? 0, "SIGKILL");
    await waitFor("it has ended", () => listSlirps().length === 0);
    await delay(1500); // the first attempt comes after a second
    show();
    await waitFor("another one runs", () => listSlirps().length === 1);
    expect(listSlirps()[0]?.pid).not.toBe(first?.pid);
  } finally {
    await own.close();
    rmSync(folder, { recursive: true });
  }
});

const PARENT_COMMAND: Command = [process.execPath, PARENT, "B", "1234.701", "run"];

test.runIf(IS_ROOT).each([
  ["root", PARENT_COMMAND],
  ["an ordinary user", asOrdinaryUser(PARENT_COMMAND)],
] as const)(
  "no slirp4netns and no namespace outlives a Node that was killed by kill -9 (as %s)",
  async (_who, [program, ...args]) => {
    const parent = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    const printed = await new Promise<Buffer>((resolve) => parent.stdout?.once("data", resolve));
    const pid = parent.pid ?? 0;
    try {
      await waitFor(
        "user code runs",
        () => listDescendants(pid).filter(({ command }) => command.includes("1234.701")).length > 3,
      );
      expect(listSlirps(pid)).toHaveLength(1);
      const own = readlinkSync("/proc/self/ns/net");
      const started = listDescendants(pid);
      const namespaces = new Set(started.map(({ network }) => network).filter((network) => network !== own));
      expect(namespaces.size).toBe(1);
      parent.kill("SIGKILL");
      const pids = new Set(started.map((one) => one.pid));
      await waitFor("every process is gone", () =>
        listProcesses().every((one) => !pids.has(one.pid) && !namespaces.has(one.network)),
      );
    } finally {
      rmSync(printed.toString().trim(), { recursive: true, force: true });
    }
  },
);
