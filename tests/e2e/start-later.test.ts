import { afterEach, expect, test } from "vitest";
import { CONNECT, openLine } from "../support/line.ts";
import type { Line } from "../support/line.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const FLAGS = ["--worker-cpu", "4", "--worker-memory", "8"];
/** So far ahead that what a test does before is over, also on a slow machine. */
const SOON_MS = 10_000;

/** Says its id, and ends. */
const PROGRAM = `
import os, socket

def run(data):
    ${CONNECT}
    with line:
        line.sendall((os.environ["SERVICE_EXECUTION_ID"] + "\\n").encode())
        line.recv(1)
    return {}
`;

interface State {
  readonly status: string;
  readonly waiting?: { readonly reason: string; readonly startAt?: string };
  readonly startedAt?: string;
}

let world: World | undefined;
let line: Line | undefined;
const begun: string[] = [];

afterEach(async () => {
  await world?.close();
  await line?.close();
  world = undefined;
  line = undefined;
  begun.length = 0;
});

async function open(role: string): Promise<{ readonly world: World; readonly consumer: Consumer }> {
  world = await createWorld({ role, flags: FLAGS });
  if (role !== "all") await world.start({ role: "worker", flags: FLAGS });
  const { serviceKey } = await world.deploy(await world.createProject("later", PROGRAM));
  line = await openLine(world.dataDirectory, (socket) => {
    socket.setEncoding("utf8").once("data", (text: string) => {
      begun.push(text.trim());
      socket.end("k");
    });
  });
  return { world, consumer: await world.subscribe(serviceKey) };
}

/** The form of times on the wire. */
const toWire = (time: number) => new Date(time).toISOString().slice(0, 19).replace("T", " ");

test("an execution begins at the time that its start asks for, can be cancelled before, and says until when it waits", async () => {
  const { world: here, consumer } = await open("all");
  const startAt = Date.now() + SOON_MS;
  const { status, body } = await consumer.start({ data: {}, startAt: new Date(startAt).toISOString() });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    status: "PENDING",
    waiting: { reason: "START_AT", startAt: toWire(startAt), estimateSeconds: expect.any(Number) },
  });
  const early = await consumer.call("GET", `${body.id}/result`);
  expect([early.status, early.body["code"]]).toEqual([404, "RESULT_NOT_READY"]);

  const tomorrow = toWire(Date.now() + 24 * 60 * 60 * 1_000);
  const other = await consumer.start({ startAt: tomorrow });
  const asked = await consumer.call<State>("GET", other.body.id);
  expect(asked.body.waiting).toMatchObject({ reason: "START_AT", startAt: tomorrow });
  expect(asked.headers.get("retry-after")).toBe("600");
  const cancelled = await consumer.call<State>("PUT", `${other.body.id}/cancel`);
  expect(cancelled.body.status).toBe("FAILED");

  const job = await here.cli(here.directory, "run", "later", "--start-at", tomorrow, "--detached", "--json");
  expect(job).toMatchObject({ code: 0 });
  const { id: jobId } = JSON.parse(job.stdout) as { id: string };
  const shown = await here.cli(here.directory, "status", jobId);
  expect(shown.stdout).toMatch(/^Waiting {2}START_AT: .*; starts in about \d+ s$/mu);
  const late = await here.cli(
    here.directory,
    "run",
    "later",
    "--start-at",
    "2126-01-01 00:00:00",
    "--detached",
  );
  expect(late.code).toBe(1);
  expect(late.stderr).toContain("at most 7 days");

  const ended = await consumer.finish(body.id);
  expect(ended.status).toBe("SUCCEEDED");
  expect(Date.parse(`${ended.startedAt?.replace(" ", "T")}Z`)).toBeGreaterThanOrEqual(startAt - 1_000);
  expect(begun).toEqual([body.id]);
});

test("what is due while every control process is dead begins when one is back, once", async () => {
  const { world: here, consumer } = await open("gateway,control,builder");
  const startAt = Date.now() + SOON_MS;
  const { body } = await consumer.start({ data: {}, startAt: toWire(startAt + 1_000) });
  expect(body).toMatchObject({ status: "PENDING", waiting: { reason: "START_AT" } });
  const [gatewayPort, apiPort] = [here.platform.gatewayUrl, here.platform.apiUrl].map((url) =>
    Number(new URL(url).port),
  );
  await here.platform.kill();
  await expect.poll(() => Date.now(), { interval: 50 }).toBeGreaterThan(startAt + 1_000);
  expect(begun).toEqual([]);
  await here.start({
    role: "gateway,control,builder",
    flags: FLAGS,
    ...(gatewayPort ? { gatewayPort } : {}),
    ...(apiPort ? { apiPort } : {}),
  });
  expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
  expect(begun).toEqual([body.id]);
});
