import { execFile } from "node:child_process";
import { join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { explainExit } from "../../tools/faults/exits.ts";
import type { Report } from "../../tools/faults/report.ts";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { withoutBucket } from "../support/s3-store.ts";

const MINUTE = 60_000;
const SCHEDULES = 10;
/** Begins no more schedules after that: on a slow machine there are fewer. */
const WITHIN_SECONDS = 20;

test(
  "what clients see of a platform whose processes are killed, stopped, cut off and misled breaks no promise",
  { timeout: 20 * MINUTE },
  async () => {
    const campaign = join(REPOSITORY, "tools/faults/faults.ts");
    const flags = [
      "--seed",
      "20261124",
      "--schedules",
      String(SCHEDULES),
      "--within",
      String(WITHIN_SECONDS),
    ];
    // Its platform is in namespaces of its own, from which no bucket of the tests is reached.
    const options = { env: withoutBucket() };
    const { stdout } = await promisify(execFile)(execPath, [campaign, ...flags, "--json"], options);
    const { broken, seen, schedules, exits } = JSON.parse(stdout) as Report;
    expect(broken).toEqual([]);
    expect(exits.filter((exit) => !explainExit(exit).isMeant)).toEqual([]);
    expect(schedules).toBeGreaterThan(0);
    expect(seen["accepted"]).toBeGreaterThan(3 * schedules);
    expect(seen["ended SUCCEEDED"]).toBeGreaterThan(schedules);
    expect(seen["message"]).toBeGreaterThanOrEqual(seen["executions"] ?? Infinity);
  },
);
