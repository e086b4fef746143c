import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { CONNECT, openLine } from "../support/line.ts";
import type { Line } from "../support/line.ts";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** Says its name, and ends when it is told to. */
const PROGRAM = `
import socket

def run(data):
    ${CONNECT}
    with line:
        line.sendall((data["name"] + "\\n").encode())
        line.recv(1)
    return {}
`;

/** It needs the whole worker. */
const FILES = {
  "platform.json": JSON.stringify({
    name: "timely",
    runtime: "PYTHON_TEMPLATE",
    resources: { cpu: 1, memory: 0.25 },
  }),
};

let world: World | undefined;
let line: Line | undefined;
let local: LocalServer | undefined;
let directory: string | undefined;
const begun: string[] = [];
const release: (() => void)[] = [];

afterEach(async () => {
  await local?.stop();
  await world?.close();
  await line?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  [local, world, line, directory] = [undefined, undefined, undefined, undefined];
  begun.length = 0;
  release.length = 0;
});

async function listen(dataDirectory: string): Promise<void> {
  line = await openLine(dataDirectory, (socket) => {
    socket.setEncoding("utf8").once("data", (text: string) => {
      begun.push(text.trim());
      release.push(() => socket.end("k"));
    });
  });
}

const EXCEEDED = {
  code: "START_DEADLINE_EXCEEDED",
  detail: expect.stringMatching(/^The execution had not begun by 20.* UTC/u),
};
const WIRE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/u;

test("what has not begun in time fails and never runs: started by applications, as jobs, in a batch, or by a policy", async () => {
  world = await createWorld({ flags: ["--worker-cpu", "1", "--worker-memory", "4"] });
  const { serviceKey } = await world.deploy(await world.createProject("timely", PROGRAM, FILES));
  const cli = async (...words: string[]) => await world?.cli(world.directory, ...words);
  await listen(world.dataDirectory);
  const consumer = await world.subscribe(serviceKey);
  const first = await consumer.start({ data: { name: "first" }, startWithin: 600 });
  expect(first.body).toMatchObject({ startBy: expect.stringMatching(WIRE) });
  await expect.poll(() => begun).toEqual(["first"]);

  const late = await consumer.start({ data: { name: "late" }, startWithin: 1 });
  expect(late.status).toBe(201);
  const patient = await consumer.start({ data: { name: "patient" }, startWithin: 600 });
  const batch = await consumer.call<{ items: readonly { id: string }[] }>("POST", "batch", {
    json: { items: [{ data: { name: "item" }, startWithin: 1 }] },
  });
  const job = await cli(
    "run",
    "timely",
    "-d",
    '{"name": "job"}',
    "--start-within",
    "10m",
    "--detached",
    "--json",
  );
  const { id: jobId } = JSON.parse(job?.stdout ?? "") as { id: string };
  expect((await cli("status", jobId))?.stdout).toMatch(/^Begins {3}by 20.*, or fails$/mu);
  expect((await cli("run", "timely", "--start-within", "10 minutes"))?.code).toBe(2);
  const foreseen = await cli("run", "timely", "-d", "{}", "--start-within", "10m", "--dry-run");
  expect(foreseen?.stdout).toMatch(/^Begins {3}by 20.*, or fails$/mu);
  expect((await cli("services", "policy", "timely", "--start-within", "1s"))?.stdout).toContain("within 1 s");
  const bound = await cli("run", "timely", "-d", '{"name": "bound"}', "--json");
  expect(bound?.code).toBe(1);
  expect(JSON.parse(bound?.stdout ?? "")).toMatchObject({ status: "FAILED", ...EXCEEDED });

  for (const id of [late.body.id, ...batch.body.items.map((item) => item.id)]) {
    expect(await consumer.finish(id)).not.toHaveProperty("startedAt");
    const result = await consumer.call("GET", `${id}/result`);
    expect([result.status, result.body]).toMatchObject([200, EXCEEDED]);
  }
  const events = await cli("events", "--json");
  expect(events?.stdout).toContain("START_DEADLINE_EXCEEDED");
  expect((await consumer.call("PUT", `${late.body.id}/cancel`)).body).toMatchObject({ status: "FAILED" });
  expect(begun).toEqual(["first"]);
  // The others have waited for as long, and may begin.
  for (let count = 0; count < 3; count++) {
    await expect.poll(() => release.length).toBeGreaterThan(count);
    release[count]?.();
  }
  expect((await consumer.finish(first.body.id)).status).toBe("SUCCEEDED");
  expect((await consumer.finish(patient.body.id)).status).toBe("SUCCEEDED");
  expect(begun.toSorted()).toEqual(["first", "job", "patient"]);
});

test("the local server ends what has not begun in time as the platform does", async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-local-"));
  const project = join(directory, "project");
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(join(project, "platform.json"), '{"name": "timely", "runtime": "PYTHON_TEMPLATE"}');
  await writeFile(join(project, "src/__init__.py"), "");
  await writeFile(join(project, "src/program.py"), "def run():\n    return {}\n");
  // Nothing begins before: each start waits for so long.
  local = await startLocalServer(project, "--fault", "slow-start=1800s");
  const bound = await local.start({ startWithin: 1 });
  expect(bound.body).toMatchObject({ status: "PENDING", startBy: expect.stringMatching(WIRE) });
  const free = await local.start({ startWithin: 600 });
  const result = await local.finish(String(bound.body["id"]));
  expect(result).toMatchObject({
    ...EXCEEDED,
    _embedded: { status: { status: "FAILED", started_at: null } },
  });
  const { body } = await request("GET", `${local.url}/${String(free.body["id"])}`, {});
  expect(body).toMatchObject({ status: "PENDING", startBy: free.body["startBy"] });
  expect((await local.start({ startWithin: -1 })).body).toMatchObject({ code: "INVALID_INPUT" });
});
