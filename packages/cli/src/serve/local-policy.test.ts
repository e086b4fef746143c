import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createCliHome } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";
import { createLocalPolicy } from "./local-policy.ts";
import { LOCAL_SERVICE } from "./local-service.ts";

/** Sleeps for as long as it is told to, and then fails as often as it is told to. */
const PROGRAM = `
import os, time

class Busy(Exception):
    code = "BUSY"
    detail = "The device is busy."

def run(data):
    time.sleep(data.get("sleep", 0))
    attempt = int(os.environ["SERVICE_EXECUTION_ATTEMPT"])
    if attempt <= data.get("failures", 0):
        raise Busy
    return {"attempt": attempt}
`;
const LONG = { data: { sleep: 600 } };
const FILE = "rules/policy.json";

let served: ServedProject | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

/** With a policy from a file of the project. */
async function serve(policy: object, flags: readonly string[] = []): Promise<ServedProject> {
  served = await serveProject(PROGRAM, {
    flags: ["--policy", FILE, ...flags],
    files: { [FILE]: JSON.stringify(policy) },
  });
  return served;
}

const startOne = async (server: ServedProject, body: unknown) =>
  String((await server.start(body)).body["id"]);
const readState = async (server: ServedProject, id: string) => (await server.call(`/${id}`)).body;
const cancel = async (server: ServedProject, id: string) =>
  await server.call(`/${id}/cancel`, { method: "PUT" });

async function setPolicy(server: ServedProject, text: string): Promise<void> {
  await server.write(FILE, text);
}

const awaitNote = async (server: ServedProject, text: string) =>
  await waitUntil(async () => server.running.stderr().includes(text));

test("a time limit and retries after errors are those of the policy, and the record lists the attempts", async () => {
  const retries = { onError: { max: 2, backoffSeconds: 0, codes: ["BUSY"] } };
  const server = await serve({ timeoutSeconds: 1, retries });
  expect(await server.execute(LONG)).toMatchObject({ code: "TIMEOUT" });
  // Where the machine is busy, an attempt that fails may take longer than that.
  await setPolicy(server, JSON.stringify({ retries }));
  await awaitNote(server, "Reloaded the policy");
  const id = await startOne(server, { data: { failures: 2 } });
  await waitUntil(async () => (await readState(server, id))["terminal"] === true);
  expect(await readState(server, id)).toMatchObject({
    status: "SUCCEEDED",
    attempts: [
      { attempt: 1, code: "BUSY", detail: "The device is busy." },
      { attempt: 2, code: "BUSY" },
      { attempt: 3 },
    ],
  });
  expect((await server.call(`/${id}/result`)).body).toMatchObject({ attempt: 3 });
  expect(await server.execute({ data: { failures: 3 } })).toMatchObject({ code: "BUSY" });
});

test("who waits for a place is told so, by a rehearsal as well, and a higher limit in the file counts at once", async () => {
  const server = await serve({ concurrency: { service: 1 } });
  const rehearse = async () =>
    await server.call("/", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "dry-run" },
      body: JSON.stringify(LONG),
    });
  const first = await startOne(server, LONG);
  const isRunning = async (id: string) => (await readState(server, id))["status"] === "RUNNING";
  await waitUntil(async () => await isRunning(first));
  // Nothing waits yet, and the only place is taken.
  expect((await rehearse()).body).toMatchObject({ waiting: { reason: "SERVICE_LIMIT", position: 0 } });
  const second = await startOne(server, LONG);
  await expect
    .poll(async () => await readState(server, second))
    .toMatchObject({ status: "PENDING", waiting: { reason: "SERVICE_LIMIT", position: 0 } });
  expect((await rehearse()).body).toMatchObject({ waiting: { reason: "SERVICE_LIMIT", position: 1 } });
  // What is wrong with a policy leaves the one before.
  await setPolicy(server, '{"concurrency": {"service": 0}}');
  await awaitNote(server, "The policy was not reloaded, the previous one still holds");
  expect(server.running.stderr()).toContain("policy.concurrency.service must be >= 1.");
  expect(await readState(server, second)).toMatchObject({ status: "PENDING" });
  await setPolicy(server, '{"concurrency": {"subscription": 2}}');
  await waitUntil(async () => await isRunning(second));
  expect(await isRunning(first)).toBe(true);
  const third = await startOne(server, {});
  await expect
    .poll(async () => await readState(server, third))
    .toMatchObject({ status: "PENDING", waiting: { reason: "SUBSCRIPTION_LIMIT" } });
  await cancel(server, first);
  await waitUntil(async () => (await readState(server, third))["status"] === "SUCCEEDED");
});

test("what is wrong with the policy is told once for each edit of its file, however often the project changes, and so is that it is right again", async () => {
  const server = await serve({});
  const count = (text: string) => server.running.stderr().split(text).length - 1;
  const edit = async (number: number) => {
    await server.write("src/program.py", `${PROGRAM}# ${number}\n`);
    await waitUntil(async () => count("Reloaded demo.") >= number);
  };
  await setPolicy(server, '{"priority": "highest"}');
  await awaitNote(server, "The policy was not reloaded");
  await edit(1);
  await edit(2);
  expect(count("The policy was not reloaded")).toBe(1);
  await setPolicy(server, '{"priority": "lowest"}');
  await waitUntil(async () => count("The policy was not reloaded") === 2);
  await setPolicy(server, "{}");
  await awaitNote(server, "Reloaded the policy");
});

test("limits are counted by the one service of the server, which events and messages name", () => {
  const keys: string[] = [];
  const settings = { policy: {}, file: null, read: async () => ({}) };
  const policy = createLocalPolicy(settings, { setLimits: (key) => keys.push(key) });
  expect([policy.service().key, ...keys]).toEqual([LOCAL_SERVICE.key, LOCAL_SERVICE.key]);
});

test("of a batch no more run at one time than the policy says, and all come to their end", async () => {
  const server = await serve({ concurrency: { subscription: 1 } });
  const items = Array.from({ length: 6 }, () => ({ data: { sleep: 0.1 } }));
  const { body } = await server.call("/batch", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ items }),
  });
  expect(body).toMatchObject({ total: 6, refused: 0 });
  let most = 0;
  await waitUntil(async () => {
    const records = (await (await fetch(`${server.url}/`)).json()) as readonly { status: string }[];
    most = Math.max(most, records.filter(({ status }) => status === "RUNNING").length);
    return records.every(({ status }) => status === "SUCCEEDED");
  });
  expect(most).toBe(1);
});

test("what was started as low waits behind what is normal", async () => {
  served = await serveProject(PROGRAM, {
    flags: ["--policy", FILE],
    files: {
      [FILE]: '{"priority": "low"}',
      // All that the machine has: one runs at a time.
      "platform.json": JSON.stringify({
        name: "demo",
        runtime: "PYTHON_TEMPLATE",
        resources: { cpu: 64, memory: 1 },
      }),
    },
  });
  const server = served;
  const first = await startOne(server, LONG);
  await waitUntil(async () => (await readState(server, first))["status"] === "RUNNING");
  const low = await startOne(server, LONG);
  await setPolicy(server, '{"priority": "normal"}');
  await awaitNote(server, "Reloaded the policy");
  const normal = await startOne(server, LONG);
  await cancel(server, first);
  await waitUntil(async () => (await readState(server, normal))["status"] === "RUNNING");
  expect(await readState(server, low)).toMatchObject({ status: "PENDING" });
});

test("a lost worker is followed by another attempt where the policy says so, and each attempt has its own fate", async () => {
  const server = await serve({ retries: { onLost: "retry" } }, [
    "--fault",
    "worker-lost@60%",
    "--fault-seed",
    "3",
  ]);
  const seen: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    const { body } = await server.start({}, true);
    const { attempts = [] } = body as { readonly attempts?: readonly { readonly code?: string }[] };
    seen.push(`${attempts.map(({ code = "ok" }) => code).join(" ")} -> ${String(body["status"])}`);
  }
  // Lost once or twice and then not, never, and in all of its three attempts.
  expect(seen).toContain(" -> SUCCEEDED");
  expect(seen).toContain("WORKER_LOST ok -> SUCCEEDED");
  expect(seen).toContain("WORKER_LOST WORKER_LOST WORKER_LOST -> UNKNOWN");
  expect(server.running.stderr()).toMatch(/fault worker-lost: [0-9a-f-]{36}, attempt 2/u);
});

test("a policy that the platform would refuse is refused before anything is prepared, with its text", async () => {
  const home = await createCliHome();
  const run = async (text: string | null) => {
    if (text !== null) await writeFile(join(home.directory, "policy.json"), text);
    const { exitCode, stderr, stdout } = await home.run(["serve", "--policy", "policy.json"]);
    expect(exitCode).not.toBe(0);
    expect(stdout).toBe("");
    return stderr;
  };
  expect(await run(null)).toContain("The file 'policy.json' of --policy does not exist.");
  expect(await run("[]")).toContain("The policy is not a JSON object.");
  expect(await run('{"timeoutSeconds": 0}')).toContain("policy.timeoutSeconds must be >= 1.");
  expect(await run('{"retrys": {}}')).toContain(
    "policy must not have the property retrys (did you mean retries?).",
  );
  expect(await run('{"color": 1}')).toContain(
    "policy must not have the property color; known are timeoutSeconds, concurrency, priority, retries, startWithinSeconds.",
  );
  await rm(home.directory, { recursive: true });
  await home.close();
});
