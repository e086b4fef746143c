import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const LEASE = ["--lease-seconds", "12"];
const WORKER = [...LEASE, "--worker-cpu", "1", "--worker-memory", "1"];
const POLICY = { retries: { onLost: "retry", onError: { max: 2, backoffSeconds: 0, codes: ["BUSY"] } } };
/** The first attempt hangs until its worker is killed, the second fails, the third succeeds. */
const PROGRAM = `
import os, time
from platform_service import checkpoint

class Busy(Exception):
    code = "BUSY"
    detail = "The device is busy."

def run():
    attempt = int(os.environ["SERVICE_EXECUTION_ATTEMPT"])
    print("in attempt", attempt, flush=True)
    if attempt == 1:
        checkpoint({"kept": attempt})
        time.sleep(600)
    if attempt == 2:
        raise Busy
    return {"attempt": attempt}
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test(
  "an execution whose worker is killed, and then fails, is started again as its service has chosen, once each time",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ role: "gateway,control,builder", flags: LEASE });
    const { directory, cli } = world;
    const doomed = await world.start({ role: "worker", flags: WORKER });
    const { serviceKey } = await world.deploy(await world.createProject("retried", PROGRAM));
    await writeFile(join(directory, "policy.json"), JSON.stringify(POLICY));
    const set = await cli(directory, "services", "policy", "retried", "--set", "policy.json");
    expect(set.stdout).toContain("Retries   when its worker is lost, and after BUSY: 2 at most, pause 0 s");
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({});
    const readState = async () => (await consumer.call("GET", body.id)).body;
    await expect
      .poll(readState, { timeout: MINUTE, interval: 20 })
      .toMatchObject({ progress: { checkpointAt: expect.any(String) } });
    await doomed.kill();
    // Nobody who waits for its end is answered by this.
    await expect
      .poll(readState, { timeout: MINUTE, interval: 20 })
      .toMatchObject({ status: "PENDING", terminal: false, attempts: [{ attempt: 1, code: "WORKER_LOST" }] });
    await world.start({ role: "worker", flags: WORKER });
    await consumer.finish(body.id, 60);
    expect(await readState()).toMatchObject({
      status: "SUCCEEDED",
      attempts: [
        { attempt: 1, code: "WORKER_LOST" },
        { attempt: 2, code: "BUSY", detail: "The device is busy." },
        { attempt: 3 },
      ],
    });
    expect((await consumer.call("GET", `${body.id}/result`)).body).toMatchObject({ result: { attempt: 3 } });
    const log = await consumer.call<readonly { readonly message: string }[]>("GET", `${body.id}/log`);
    expect(log.body.map(({ message }) => message).filter((line) => /attempt \d/iu.test(line))).toEqual([
      "in attempt 1",
      "Attempt 2 of 3 begins; attempt 1 ended with WORKER_LOST.",
      "in attempt 2",
      "Attempt 3 of 3 begins; attempt 2 ended with BUSY.",
      "in attempt 3",
    ]);
  },
);
