import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";

const SLEEPER = `36${process.pid}.5`;

function listSleepers(): readonly number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.endsWith(`sleep ${SLEEPER}`)).map((line) => Number.parseInt(line, 10));
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
