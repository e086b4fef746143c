/** What clients promise their callers, in each language, with the client that callers download, against a platform that runs. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Subscription } from "../../tools/platform-client.ts";
import { PLATFORM_COMMAND } from "../../tools/platform-process.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";
import type { NotBuilt } from "../support/client-package.ts";
import { createPool, storeFile } from "../support/pools.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ClientFailure } from "./drivers.ts";
import type { Passed, Relay } from "./relay.ts";
import { LANGUAGES, PROGRAM, createSubject } from "./subjects.ts";
import type { Subject } from "./subjects.ts";
import { runOk } from "./tools.ts";

const FLAGS = [
  "--worker-cpu",
  "4",
  "--worker-memory",
  "8",
  "--lease-seconds",
  "10",
  "--writes-per-second",
  "100000",
];
const BIG = "0123456789".repeat(500_000);
const STARTS_PER_MINUTE = 10;
const MANY = 50;

let world: World;
let worker: PlatformProcess;
let serviceKey: string;
/** Made all at once: what each waits for takes half a minute. */
const pending = new Map<string, Promise<Subject | NotBuilt>>();
const subjects = new Map<string, Subject | NotBuilt>();

beforeAll(async () => {
  world = await createWorld({ role: "gateway,control,builder", flags: FLAGS });
  worker = await world.start({ role: "worker", flags: FLAGS });
  ({ serviceKey } = await world.deploy(await world.createProject("promising", PROGRAM)));
  for (const one of LANGUAGES) {
    const subject = createSubject(world, serviceKey, one);
    subject.catch(() => undefined);
    pending.set(one.name, subject);
  }
});
afterAll(async () => {
  for (const subject of subjects.values())
    if ("driver" in subject) {
      await subject.driver.close();
      subject.relay.close();
    }
  await world?.close();
});

/** The subject of a test, or skips it where this machine has no such language. */
function use(name: string, skip: (reason: string) => never): Subject {
  const subject = subjects.get(name);
  if (subject === undefined) throw new Error(`there is no ${name}`);
  return "reason" in subject ? skip(subject.reason) : subject;
}

/** Every subject that this machine has; others are said by the tests of their language. */
function listSubjects(): readonly Subject[] {
  const found = [...subjects.values()].filter((subject) => "driver" in subject);
  expect(found).not.toEqual([]);
  return found;
}

/** What a call that has to fail fails with. */
async function fail(call: Promise<unknown>): Promise<Readonly<Record<string, unknown>>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ClientFailure) return error.failure;
    throw error;
  }
  throw new Error("the call did not fail");
}

const isToken = ({ path }: Passed) => path === "/token";
const isStart = ({ method, path }: Passed) => method === "POST" && path !== "/token";

/** What passes a relay from now on. */
function watch({ passed }: Relay): () => readonly Passed[] {
  const from = passed.length;
  return () => passed.slice(from);
}

/** The newest executions of an application. */
async function listIds({ driver }: Subject): Promise<ReadonlySet<string>> {
  return new Set(await driver.ask<readonly string[]>("list"));
}

describe.each(LANGUAGES)("the client in $name", ({ name }) => {
  beforeAll(async () => {
    const subject = await pending.get(name);
    if (subject !== undefined) subjects.set(name, subject);
  });

  test("gives results the types of the service", async ({ skip }) => {
    const { driver } = use(name, skip);
    expect(await driver.ask("runTyped")).toEqual({ number: 42 });
  });

  test("raises what was raised, with its code", async ({ skip }) => {
    const { driver } = use(name, skip);
    expect(await fail(driver.ask("run", { data: { act: "raise" } }))).toMatchObject({
      name: "ExecutionFailed",
      code: "EXECUTION_ERROR",
      detail: expect.stringContaining("no such thing"),
    });
  });

  test("ends the waiting after its time, while the execution goes on", async ({ skip }) => {
    const { driver } = use(name, skip);
    const late = await fail(driver.ask("run", { data: { act: "sleep", seconds: 3 }, timeout: 1 }));
    expect(late).toMatchObject({ name: "WaitTimeout", id: expect.any(String) });
    expect(await driver.ask("wait", { id: late["id"] })).toEqual({ status: "SUCCEEDED", terminal: true });
  });

  test("cancels", async ({ skip }) => {
    const { driver } = use(name, skip);
    const { id } = await driver.ask("start", { data: { act: "sleep", seconds: 600 } });
    await driver.ask("cancel", { id });
    expect(await driver.ask("wait", { id })).toEqual({ status: "FAILED", terminal: true });
    expect(await fail(driver.ask("result", { id }))).toMatchObject({
      name: "ExecutionFailed",
      code: "CANCELLED",
      id,
    });
  });

  test("reads a result of 5 MB", async ({ skip }) => {
    const { driver } = use(name, skip);
    expect(await driver.ask("run", { data: { act: "big" } })).toMatchObject({
      length: BIG.length,
      sha256: createHash("sha256").update(BIG).digest("hex"),
    });
  });

  test("keeps every digit of an integer beyond 2^53", async ({ skip }) => {
    const { driver } = use(name, skip);
    expect(await driver.ask("run", { data: { act: "digits" } })).toMatchObject({
      digits: "12345678901234567890",
    });
  });

  test("passes a file of a data pool in place of data", async ({ skip }) => {
    const { driver, subscription } = use(name, skip);
    const pool = await createPool(world, `Inputs of ${name}`);
    const stored = await storeFile(world, pool, "data.json", JSON.stringify({ act: "double", number: 8 }));
    await world.api("PUT", `/data-pools/${pool}/grants/${subscription.applicationId}`, { access: "read" });
    const { dataPoolId, dataSourceDescriptorId, fileId } = stored.reference as Readonly<
      Record<string, string>
    >;
    const reference = [dataPoolId, dataSourceDescriptorId, fileId];
    expect(await driver.ask("run", { reference })).toMatchObject({ digits: "16" });
  });

  test("downloads the files of a result", async ({ skip }) => {
    const { driver } = use(name, skip);
    const { id } = await driver.ask("start", { data: { act: "file" } });
    await driver.ask("wait", { id });
    expect(await driver.ask("files", { id })).toEqual({ "tour 1.csv": "Köln,7542" });
  });

  test(`runs ${MANY} at one time with one token`, async ({ skip }) => {
    const { driver, relay, subscription, through } = use(name, skip);
    const seen = watch(relay);
    const { numbers } = await driver.ask("runMany", { count: MANY, ...through(subscription) });
    expect(numbers).toEqual(Array.from({ length: MANY }, (_, number) => 2 * number));
    const keys = seen()
      .filter(isStart)
      .map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(MANY);
    expect(seen().filter(isToken)).toHaveLength(1);
  });

  test("starts once, however often it has to say so: the connection is cut after the start was read", async ({
    skip,
  }) => {
    const subject = use(name, skip);
    const { driver, relay } = subject;
    const before = await listIds(subject);
    const seen = watch(relay);
    relay.cutNext("POST");
    expect(await driver.ask("run", { data: { act: "double", number: 5 } })).toMatchObject({ digits: "10" });
    const starts = seen().filter(isStart);
    expect(starts.map(({ isCut, status }) => [isCut, status])).toEqual([
      [true, 201],
      [false, 201],
    ]);
    expect(new Set(starts.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(starts[1]?.answered["idempotency-replayed"]).toBe("true");
    expect([...(await listIds(subject))].filter((id) => !before.has(id))).toHaveLength(1);
  });

  test("obeys Retry-After of a plan that has too few starts a minute", async ({ skip }) => {
    const { driver, relay, through } = use(name, skip);
    await world.api("PUT", `/services/${serviceKey}/plans/slow`, {
      name: "Slow",
      limits: { perMinute: STARTS_PER_MINUTE },
    });
    const slow = await subscribeSlowly(`slow ${name}`);
    await driver.ask("open", { client: "slow", ...through(slow) });
    const seen = watch(relay);
    const data = { act: "double" };
    // One more than are let through at once, or two where the machine is so slow that a place has come back meanwhile.
    while (!seen().some(({ status }) => status === 429)) await driver.ask("start", { client: "slow", data });
    const [refused, started, ...others] = seen()
      .filter(isStart)
      .slice(
        seen()
          .filter(isStart)
          .findIndex(({ status }) => status === 429),
      );
    expect([started?.status, others]).toEqual([201, []]);
    const asked = Number(refused?.answered["retry-after"]);
    expect(asked).toBeGreaterThan(0);
    expect((started?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(asked * 1_000);
  });

  test("waits for longer than one long poll", async ({ skip }) => {
    const { relay, long } = use(name, skip);
    expect(await long.ended).toEqual({ status: "SUCCEEDED", terminal: true });
    const polls = relay.passed.filter(
      ({ path, headers }) => path.endsWith(long.id) && headers["prefer"] === "wait=30",
    );
    expect(polls.length).toBeGreaterThanOrEqual(2);
    expect(polls.every(({ answered }) => answered["preference-applied"] === "wait=30")).toBe(true);
  });

  test("asks for one token when its key was revoked, says so, and goes on with another key", async ({
    skip,
  }) => {
    const { driver, relay, subscription, long } = use(name, skip);
    const keys = `/applications/${subscription.applicationId}/access-keys`;
    const { body: other } = await world.api<{ keyId: string; secret: string }>("POST", keys);
    await world.api("DELETE", `${keys}/${subscription.keyId}`);
    const state = () => driver.ask("state", { id: long.id });
    let seen = watch(relay);
    // Within a second.
    const look = async () => {
      seen = watch(relay);
      return await fail(state()).catch(() => null);
    };
    await expect.poll(look).toMatchObject({ name: "RequestRefused", status: 401 });
    expect(seen().filter(isToken)).toHaveLength(1);
    expect(seen().length).toBeLessThanOrEqual(3);
    await driver.ask("useKey", other);
    seen = watch(relay);
    expect(await state()).toHaveProperty("status");
    expect(seen().map(({ status }) => status)).toEqual([200, 200]);
  });
});

/** Subscribes a new application with the plan of few starts. */
async function subscribeSlowly(name: string): Promise<Subscription> {
  const { body: application } = await world.api<{ id: string }>("POST", "/applications", { name });
  const { body: key } = await world.api<{ keyId: string; secret: string }>(
    "POST",
    `/applications/${application.id}/access-keys`,
  );
  const { body } = await world.api<{ id: string; endpointUrl: string }>("POST", "/subscriptions", {
    applicationId: application.id,
    serviceKey,
    planId: "slow",
  });
  return { ...key, ...body, applicationId: application.id };
}

test("each client renews its token once when the platform refuses it", async () => {
  await runOk([...PLATFORM_COMMAND, "retire-signing-keys", "--data-dir", world.dataDirectory]);
  for (const { driver, relay, long } of listSubjects()) {
    let seen: readonly Passed[] = [];
    // Within a second.
    await expect
      .poll(async () => {
        const look = watch(relay);
        await driver.ask("state", { id: long.id });
        seen = look();
        return seen.length;
      })
      .toBe(3);
    expect(seen.map((one) => [isToken(one), one.status])).toEqual([
      [false, 401],
      [true, 200],
      [false, 200],
    ]);
  }
});

test("each client says when nobody knows what became of an execution: its worker was killed", async () => {
  const running = await Promise.all(
    listSubjects().map(async ({ driver }) => {
      const { id } = await driver.ask("start", { data: { act: "sleep", seconds: 600 } });
      await expect.poll(() => driver.ask("log", { id })).toEqual({ messages: ["began"] });
      return { driver, id };
    }),
  );
  await worker.kill();
  for (const { driver, id } of running) {
    expect(await driver.ask("wait", { id })).toEqual({ status: "UNKNOWN", terminal: true });
    expect(await fail(driver.ask("result", { id }))).toMatchObject({
      name: "ExecutionUnknown",
      code: "WORKER_LOST",
      id,
    });
  }
});
