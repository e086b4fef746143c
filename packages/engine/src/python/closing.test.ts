import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createFixture, waitFor } from "../testing/python-fixture.ts";

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
