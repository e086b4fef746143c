import { afterEach, expect, test } from "vitest";
import { CONNECT, openLine } from "../support/line.ts";
import type { Line } from "../support/line.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** Says that it has begun, and goes on when it is told to; with `forever` it never ends. */
const PROGRAM = `
import socket
import time

def run(data):
    while data.get("forever"):
        time.sleep(0.1)
    ${CONNECT}
    with line:
        line.sendall(b"begun\\n")
        line.recv(1)
    return {}
`;

let world: World | undefined;
let line: Line | undefined;
afterEach(async () => {
  await world?.close();
  await line?.close();
  world = undefined;
  line = undefined;
});

test("a policy limits how long and how many executions run, without a new version, and who waits is told for which limit", async () => {
  world = await createWorld({ flags: ["--worker-cpu", "1", "--worker-memory", "4"] });
  const { serviceKey } = await world.deploy(await world.createProject("ruled", PROGRAM));
  const policy = async (...options: string[]) => {
    const set = await world?.cli(world.directory, "services", "policy", "ruled", ...options);
    expect(set).toMatchObject({ code: 0 });
    return set?.stdout;
  };
  const release: (() => void)[] = [];
  line = await openLine(world.dataDirectory, (socket) => {
    socket.once("data", () => release.push(() => socket.end("k")));
  });
  await policy("--timeout", "1");
  const job = await world.cli(world.directory, "run", "ruled", "-d", '{"forever": true}', "--json");
  expect(job.code).toBe(1);
  expect(JSON.parse(job.stdout)).toMatchObject({ status: "FAILED", code: "TIMEOUT" });

  const limits = ["--timeout", "0", "--concurrency", "2", "--per-subscription", "1"];
  expect(await policy(...limits)).toContain("At once   2 of the service, 1 of one subscription");
  const [a, b, c] = [
    await world.subscribe(serviceKey),
    await world.subscribe(serviceKey),
    await world.subscribe(serviceKey),
  ];
  const started = await Promise.all(
    [a, b].map(async (consumer) => (await consumer.start({ data: {} })).body.id),
  );
  await expect.poll(() => release.length).toBe(2);
  const [more, other] = [(await a.start({ data: {} })).body.id, (await c.start({ data: {} })).body.id];
  await expect
    .poll(async () => (await a.call("GET", more)).body)
    .toMatchObject({ status: "PENDING", waiting: { reason: "SUBSCRIPTION_LIMIT", position: 0 } });
  await expect
    .poll(async () => (await c.call("GET", other)).body)
    .toMatchObject({ status: "PENDING", waiting: { reason: "SERVICE_LIMIT" } });
  // One ends: whoever may run next does.
  release[0]?.();
  await expect.poll(() => release.length).toBe(3);
  await policy("--concurrency", "0", "--per-subscription", "0");
  await expect.poll(() => release.length).toBe(4);
  for (const end of release) end();
  for (const [consumer, id] of [
    [a, started[0]],
    [b, started[1]],
    [a, more],
    [c, other],
  ] as const)
    expect(await consumer.finish(id ?? "")).toMatchObject({ status: "SUCCEEDED" });
});
