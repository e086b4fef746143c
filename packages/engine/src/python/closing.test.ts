import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listChildren } from "../testing/find-zygote.ts";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";

const SLEEPER = `36${process.pid}.5`;

function listSleepers(): readonly number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.endsWith(`sleep ${SLEEPER}`)).map((line) => Number.parseInt(line, 10));
}

/** Others get no network of their own that could be left behind. */
const HAS_NETWORK = process.getuid?.() === 0;

/** Whether it is the launcher of a slirp4netns. */
function isOfNetwork(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("slirp4netns");
  } catch {
    return false; // it has ended
  }
}

test("closing ends while a module hangs at import and a process that it let go of holds the output", async () => {
  const fixture = await createFixture({}, "D");
  const program = `
import os, time
os.system("setsid sh -c 'sleep ${SLEEPER} &'")
time.sleep(1000)
def run(): pass
`;
  const run = fixture.start(fixture.createVersion(program));
  try {
    await waitFor("the module is at import", () => listSleepers().length > 0);
    await fixture.close();
    expect((await run.outcome).status).not.toBe("SUCCEEDED");
  } finally {
    // Without a sandbox nothing else ends it.
    for (const pid of listSleepers()) process.kill(pid, "SIGKILL");
  }
});

test("closing ends a probe that is under way, with all its processes and its network", async () => {
  const fixture = await createFixture();
  const version = fixture.createVersion(`import os\nos.execlp("sleep", "sleep", "${SLEEPER}")\n`);
  const probe = fixture.runtime.probe(version);
  probe.catch(() => undefined); // it ends while the runtime is closed
  await waitFor("the module is at import", () => listSleepers().length > 0);
  await waitFor("it has a network", () => !HAS_NETWORK || listChildren(process.pid).some(isOfNetwork));
  await fixture.close();
  expect(listSleepers()).toEqual([]);
  await expect(probe).rejects.toThrow("this process is being stopped");
  await waitFor("its network has ended", () => !listChildren(process.pid).some(isOfNetwork));
});

test("a probe that nobody waits for any more ends with all its processes", async () => {
  const fixture = await createFixture();
  const version = fixture.createVersion(`import os\nos.execlp("sleep", "sleep", "${SLEEPER}")\n`);
  const stop = new AbortController();
  const probe = fixture.runtime.probe(version, "service", stop.signal);
  await waitFor("the module is at import", () => listSleepers().length > 0);
  stop.abort(new Error("cancelled"));
  await expect(probe).rejects.toThrow("cancelled");
  expect(listSleepers()).toEqual([]);
  await fixture.close();
});

test.for([true, false])(
  "the user of a sandbox is given back when its groups have ended, and what has escaped with them; in time: %s",
  async (isInTime, { skip }) => {
    let endsInTime = isInTime;
    const sandbox = await findTestSandbox();
    const { cgroups } = sandbox;
    if (cgroups === null) {
      skip("there are no control groups here");
      return;
    }
    const ended: string[] = [];
    const create: typeof cgroups.create = (name) => {
      const group = cgroups.create(name);
      const remove = async () => {
        const isRemoved = await group.remove();
        ended.push("group");
        return isRemoved && endsInTime;
      };
      return { ...group, remove };
    };
    const prepare: typeof sandbox.prepare = async (request) => {
      const launch = await sandbox.prepare(request);
      const release = () => {
        ended.push("user");
        launch.release();
      };
      return { ...launch, release };
    };
    const fixture = await createFixture({
      sandbox: { ...sandbox, cgroups: { ...cgroups, create }, prepare },
    });
    await fixture.finish(fixture.createVersion("def run(): return 1\n"));
    await fixture.close();
    expect(ended.length).toBeGreaterThan(1);
    expect(ended.indexOf("user")).toBe(isInTime ? ended.length - 1 : -1);
    endsInTime = true;
    await expect.poll(() => ended.at(-1)).toBe("user");
    expect(ended.filter((what) => what === "user")).toHaveLength(1);
  },
);

/** Longer than any test: who waits for the trial to its end does not pass. */
const TRIAL_MS = 3_600_000;

test("closing ends while an empty sandbox is tried, and so does that", async () => {
  const folder = mkdtempSync(join(tmpdir(), "closing-"));
  chmodSync(folder, 0o755); // as root, it is started as another user
  const [bwrap, broken] = [join(folder, "bwrap"), join(folder, "broken")];
  const hang = `case "$*" in *"trial namespaces"*) exec sleep ${SLEEPER} ;; esac; exit 1`;
  writeFileSync(bwrap, `#!/bin/sh\n[ -e ${broken} ] && { ${hang}; }\nexec /usr/bin/bwrap "$@"\n`, {
    mode: 0o755,
  });
  const sandbox = await findTestSandbox({ bubblewrapPath: bwrap, trialTimes: [TRIAL_MS, TRIAL_MS] });
  const fixture = await createFixture({ sandbox });
  writeFileSync(broken, "");
  const run = fixture.start(fixture.createVersion("def run(): pass\n"));
  try {
    await waitFor("the sandbox is tried", () => listSleepers().length > 0);
    await fixture.close();
    expect(await run.outcome).toMatchObject({ status: "NOT_STARTED", scope: "worker" });
    await waitFor("nothing is left of the trial", () => listSleepers().length === 0);
  } finally {
    for (const pid of listSleepers()) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true });
  }
});
