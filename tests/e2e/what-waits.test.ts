import { afterEach, expect, test } from "vitest";
import { CONNECT, openLine } from "../support/line.ts";
import type { Line } from "../support/line.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** Says that it has begun, and goes on when it is told to. */
const PROGRAM = `
import socket

def run(data):
    ${CONNECT}
    with line:
        line.sendall(b"begun\\n")
        line.recv(1)
    return {}
`;

interface State {
  readonly status: string;
  readonly waiting?: {
    readonly reason: string;
    readonly position?: number;
    readonly estimateSeconds?: number;
  };
  readonly lease?: { readonly until: string };
}

let world: World | undefined;
let line: Line | undefined;
afterEach(async () => {
  await world?.close();
  await line?.close();
  world = undefined;
  line = undefined;
});

test("who waits is told why, how many are before it and when to ask again; what runs says until when it is held", async () => {
  // Room for one of the service's executions.
  world = await createWorld({ flags: ["--worker-cpu", "0.25", "--worker-memory", "1"] });
  const { serviceKey } = await world.deploy(await world.createProject("slow", PROGRAM));
  const release: (() => void)[] = [];
  line = await openLine(world.dataDirectory, (socket) => {
    socket.once("data", () => release.push(() => socket.end("k")));
  });
  const consumer = await world.subscribe(serviceKey);
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push((await consumer.start({ data: {} })).body.id);
  const [first = "", second = "", third = ""] = ids;
  await expect.poll(() => release.length).toBe(1);

  const read = async (id: string) => (await consumer.call<State>("GET", id)).body;
  await expect
    .poll(() => read(first))
    .toMatchObject({ status: "RUNNING", lease: { until: expect.any(String) } });
  expect(await read(first)).not.toHaveProperty("waiting");
  await expect.poll(() => read(second)).toMatchObject({ waiting: { reason: "QUEUE", position: 0 } });
  await expect.poll(() => read(third)).toMatchObject({ waiting: { reason: "QUEUE", position: 1 } });
  const asked = await consumer.call("GET", third);
  expect(Number(asked.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  const result = await consumer.call("GET", `${third}/result`);
  expect([result.status, result.body["code"]]).toEqual([404, "RESULT_NOT_READY"]);
  expect(Number(result.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);

  // A job waits behind them.
  const job = await world.cli(world.directory, "run", "slow", "--detached", "--json");
  expect(job).toMatchObject({ code: 0 });
  const { id } = JSON.parse(job.stdout) as { id: string };
  const shown = async () => (await world?.cli(world.directory, "status", id))?.stdout ?? "";
  await expect.poll(shown).toMatch(/^Waiting {2}QUEUE: .*; \d before it/mu);

  for (let count = 0; count < 4; count++) {
    await expect.poll(() => release.length).toBe(count + 1);
    release[count]?.();
  }
  const ended = await consumer.finish(third);
  expect(ended.status).toBe("SUCCEEDED");
  expect(ended).not.toHaveProperty("lease");
  expect((await consumer.call("GET", third)).headers.get("retry-after")).toBeNull();
});
