import { expect, test } from "vitest";
import { createAttackedFixture } from "../testing/attack-levels.ts";
import { findTestSandbox, waitFor } from "../testing/python-fixture.ts";

const CAPACITY = { cpu: 1, memory: 0.1 };
/** Room for one, four that are prepared, four that end; for each child two groups may hold memory. */
const GROUPS = 2 * 9;

/** Code at import keeps a socket that its executions inherit, and hides it from what looks for such things. */
const PROGRAM = `
import os, socket, sys, time

sys.modules["service_runner.zygote"].find_fork_hazard = lambda *_: None
KEPT, SENT = socket.socketpair()

def run(data):
    print("begun")
    if data["leaves"]:
        file = os.memfd_create("left")
        os.write(file, bytes(8 << 20))
        socket.send_fds(SENT, [b"x"], [file])
    time.sleep(data["seconds"])
    return "done"
`;

test.runIf((await findTestSandbox()).cgroups !== null)(
  "when memory that executions have left keeps all control groups of a version from use, what runs is not ended, and what waits has another zygote",
  async () => {
    const times = { bootMs: 30_000, confirmMs: 3000 };
    const fixture = await createAttackedFixture("A", { capacity: CAPACITY, times });
    try {
      const version = fixture.createVersion(PROGRAM, { resources: CAPACITY });
      const start = (leaves: boolean, seconds: number) =>
        fixture.start(version, { data: { leaves, seconds }, timeoutSeconds: 900 });
      const survivor = start(false, 600);
      await waitFor("it runs", () => survivor.lines.length > 0);
      const found = new Set<string>();
      // The next ones wait already while these end: that there is no group is told to what waits.
      for (let count = 0; count < 3 * GROUPS && !found.has("NOT_STARTED"); count += 3)
        for (const { outcome } of [1, 2, 3].map(() => start(true, 0))) found.add((await outcome).status);
      expect([...found].sort()).toEqual(["NOT_STARTED", "SUCCEEDED"]);
      let last = "NOT_STARTED";
      while (last === "NOT_STARTED") last = (await start(false, 0).outcome).status;
      expect(last).toBe("SUCCEEDED");
      survivor.kill({ code: "CANCELLED", detail: "It ran all the time." });
      expect(await survivor.outcome).toMatchObject({ code: "CANCELLED" });
      await survivor.ended;
    } finally {
      await fixture.close();
    }
  },
);
