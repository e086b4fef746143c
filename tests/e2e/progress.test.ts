import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const PROGRAM = `
import time
from platform_service import checkpoint, report

def run():
    # Again and again: who follows it from later on is told of what comes from then on.
    while True:
        checkpoint({"tour": [2, 1, 3]})
        report(0.25, "kicking")
        time.sleep(0.5)
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test(
  "a caller sees how far an execution on another worker is, cancels it, and gets what it had kept",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ role: "gateway,control,builder" });
    await world.start({ role: "worker", flags: ["--worker-cpu", "1", "--worker-memory", "1"] });
    const { serviceKey } = await world.deploy(await world.createProject("kicker", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({});
    const { body: stream } = await fetch(`${consumer.endpoint}${body.id}/events`, {
      headers: { authorization: `Bearer ${consumer.token}` },
    });
    let seen = "";
    for await (const piece of (stream ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      seen += piece;
      // The first event of progress may tell of the checkpoint alone.
      if (seen.includes("kicking") && seen.includes("event: partial")) break;
    }
    const progress = { fraction: 0.25, message: "kicking" };
    expect((await consumer.call("GET", body.id)).body).toMatchObject({ status: "RUNNING", progress });
    await consumer.call("PUT", `${body.id}/cancel`);
    await expect
      .poll(async () => (await consumer.call("GET", body.id)).body, { timeout: MINUTE })
      .toMatchObject({ status: "FAILED", progress });
    expect((await consumer.call("GET", `${body.id}/result`)).body).toMatchObject({
      code: "CANCELLED",
      partial: true,
      result: { tour: [2, 1, 3] },
    });
  },
);
