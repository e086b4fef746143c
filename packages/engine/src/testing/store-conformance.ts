import { randomUUID } from "node:crypto";
import { v7 as createUuidV7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "./wait-until.ts";
import type { LogEntry } from "@platform/contract/execution";
import { LOG_PAGE_BYTES } from "../store/execution-store.ts";
import type {
  Claim,
  ClaimRequest,
  ExecutionRecord,
  ExecutionStore,
  LogPage,
  NewExecution,
  StoreEvent,
} from "../store/execution-store.ts";
import type { LogLine, Outcome } from "../python/port/runtime.ts";
import { describeFairness } from "./queue-conformance.ts";
import { createOwner } from "./create-owner.ts";
import { describeWorkers } from "./worker-conformance.ts";

/** What a test needs of an adapter. `close` frees everything, the store included. */
export interface StoreUnderTest {
  readonly store: ExecutionStore;
  readonly close: () => Promise<void>;
}

/** Leases so short that a test can see them end, in seconds; conditions are waited for, never times. */
const SHORT_LEASE = 0.05;
const LONG_LEASE = 60;
const SMALL = { cpu: 1, memory: 1 };
const PLENTY = { cpu: 1_000_000, memory: 1_000_000 };

/**
 * The promises of an ExecutionStore, tried on an adapter. `open` gives a store of its own, empty and ready; it is opened
 * once, and every test settles or claims what it has created.
 */
export function describeExecutionStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} as an execution store`, () => {
    const room: Room = { opened: null };
    beforeAll(async () => {
      room.opened = await open();
    });
    afterAll(async () => {
      await room.opened?.close();
    });
    const use = () => {
      if (room.opened === null) throw new Error("The store is not open.");
      return room.opened.store;
    };
    describeCreate(use);
    describeClaim(use);
    describeFairness(use);
    describeWorkers(use);
    describeFinish(use);
    describeCancel(use);
    describeLeases(use);
    describeGiveBack(use);
    describeLog(use);
    describeList(use);
    describeEvents(use);
  });
}

interface Room {
  opened: StoreUnderTest | null;
}

type Use = () => ExecutionStore;

function createExecution(overrides: Partial<NewExecution> = {}): NewExecution {
  return {
    id: createUuidV7(),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from('{"data":{"n":1}}'),
    references: {},
    ...overrides,
  };
}

function request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    workerId: "worker",
    limit: 1000,
    free: PLENTY,
    leaseSeconds: LONG_LEASE,
    excludedVersionIds: [],
    ...overrides,
  };
}

/** Takes whatever earlier tests have left in the queue out of the way. */
async function emptyQueue(store: ExecutionStore): Promise<void> {
  await waitUntil(async () => {
    const { claims } = await store.claim(request({ workerId: "emptier" }));
    await Promise.all(claims.map((claim) => store.finish(claim, FAILED)));
    return claims.length === 0;
  });
}

async function start(
  store: ExecutionStore,
  overrides: Partial<NewExecution> = {},
  leaseSeconds = LONG_LEASE,
): Promise<{ execution: NewExecution; claim: Claim }> {
  await emptyQueue(store);
  const execution = createExecution(overrides);
  await store.create(execution);
  const [claim] = (await store.claim(request({ leaseSeconds }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return { execution, claim };
}

async function read(store: ExecutionStore, { id, owner }: NewExecution): Promise<ExecutionRecord> {
  const record = await store.find(id, owner.id);
  if (record === null) throw new Error(`There is no execution ${id}.`);
  return record;
}

const SUCCEEDED: Outcome = { status: "SUCCEEDED", result: Buffer.from('{"sum":3}'), metadata: null };
const FAILED: Outcome = { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: no" };
const NUL_DETAIL: Outcome = { status: "FAILED", code: "EXECUTION_ERROR", detail: "a \0 b \u{1F600} \uD800" };
const VANISHED: Outcome = { status: "UNKNOWN", code: "WORKER_LOST", detail: "It vanished." };

function describeCreate(use: Use): void {
  test("a created execution is PENDING and found by its owner only", async () => {
    const store = use();
    const execution = createExecution();
    const before = Date.now();
    const record = await store.create(execution);
    const { id, owner, versionId } = execution;
    expect(record).toEqual({
      id,
      ownerId: owner.id,
      versionId,
      resources: { cpu: 1, memory: 1 },
      status: "PENDING",
      createdAt: record.createdAt,
      startedAt: null,
      endedAt: null,
      failure: null,
    });
    expect(Math.abs(record.createdAt - before)).toBeLessThan(60_000);
    expect(await store.find(id, owner.id)).toEqual(record);
    expect(await store.find(id, randomUUID())).toBeNull();
    expect(await store.find(createUuidV7(), owner.id)).toBeNull();
    await store.cancel(id, owner.id);
  });

  test("an id that is no uuid names nothing", async () => {
    const store = use();
    for (const id of ["", "x", "'; drop table execution", "00000000-0000-0000-0000-00000000000g"]) {
      expect(await store.find(id, randomUUID())).toBeNull();
      expect(await store.readResult(id, randomUUID())).toBeNull();
      expect(await store.readLog(id, randomUUID())).toBeNull();
      expect(await store.cancel(id, randomUUID())).toBeNull();
    }
  });

  test("creating the same execution again changes nothing, whatever became of it", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = createExecution();
    const record = await store.create(execution);
    expect(await store.create({ ...execution, body: Buffer.from("{}") })).toEqual(record);
    const [claim, ...others] = (await store.claim(request())).claims;
    expect(others).toEqual([]);
    expect(Buffer.from(claim?.body ?? [])).toEqual(Buffer.from(execution.body));
    if (claim !== undefined) await store.finish(claim, SUCCEEDED);
    expect((await store.create(execution)).status).toBe("SUCCEEDED");
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("an id that another owner's execution has is refused, and nothing of that one is told", async () => {
    const store = use();
    const execution = createExecution();
    await store.create(execution);
    const intruder = { ...execution, owner: createOwner() };
    await expect(store.create(intruder)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.find(execution.id, intruder.owner.id)).toBeNull();
    await store.cancel(execution.id, execution.owner.id);
  });

  test("executions that are created at the same moment are all there", async () => {
    const store = use();
    const executions = Array.from({ length: 300 }, () => createExecution());
    const records = await Promise.all(executions.map((execution) => store.create(execution)));
    expect(records.map(({ id }) => id)).toEqual(executions.map(({ id }) => id));
    const found = await Promise.all(executions.map((execution) => read(store, execution)));
    expect(found).toEqual(records);
    await emptyQueue(store);
  });
}

function describeClaim(use: Use): void {
  test("a claim marks RUNNING and hands over everything that was given at create", async () => {
    const store = use();
    const references = {
      data: { dataPoolId: randomUUID(), dataSourceDescriptorId: randomUUID(), fileId: randomUUID() },
    };
    const body = Buffer.from([0x7b, 0x00, 0xff, 0x27, 0x5c, 0x7d]);
    const { execution, claim } = await start(store, {
      body,
      references,
      resources: { cpu: 0.5, memory: 2.25 },
      timeoutSeconds: 7,
    });
    expect({ ...claim, body: Buffer.from(claim.body) }).toEqual({
      ...execution,
      attempt: 1,
      workerId: "worker",
      setbacks: 0,
    });
    const record = await read(store, execution);
    expect(record.status).toBe("RUNNING");
    expect(record.startedAt).toBeGreaterThanOrEqual(record.createdAt);
    expect((await store.claim(request())).claims).toEqual([]);
    await store.finish(claim, SUCCEEDED);
  });

  test("the oldest are claimed first, and no more than the limit", async () => {
    const store = use();
    await emptyQueue(store);
    const executions: NewExecution[] = [];
    for (let index = 0; index < 5; index++) {
      executions.push(createExecution());
      await store.create(executions[index] ?? createExecution());
    }
    const first = (await store.claim(request({ limit: 3 }))).claims;
    const second = (await store.claim(request({ limit: 3 }))).claims;
    expect([...first, ...second].map(({ id }) => id)).toEqual(executions.map(({ id }) => id));
    expect(first).toHaveLength(3);
    expect((await store.claim(request({ limit: 0 }))).claims).toEqual([]);
    await Promise.all([...first, ...second].map((claim) => store.finish(claim, SUCCEEDED)));
  });

  test("a claim tells whether anything else is pending, also where that did not fit", async () => {
    const store = use();
    await emptyQueue(store);
    expect(await store.claim(request())).toEqual({ claims: [], isDrained: true });
    for (const resources of [SMALL, SMALL, { cpu: 8, memory: 1 }])
      await store.create(createExecution({ resources }));
    const first = await store.claim(request({ limit: 1 }));
    const second = await store.claim(request({ free: { cpu: 4, memory: 4 } }));
    expect([first.claims.length, first.isDrained, second.claims.length, second.isDrained]).toEqual([
      1,
      false,
      1,
      false,
    ]);
    const third = await store.claim(request());
    expect([third.claims.length, third.isDrained]).toEqual([1, true]);
    await Promise.all(
      [...first.claims, ...second.claims, ...third.claims].map((claim) => store.finish(claim, SUCCEEDED)),
    );
  });

  test("claimed executions fit into the free vCPUs and memory together", async () => {
    const store = use();
    await emptyQueue(store);
    const resources = [
      { cpu: 16, memory: 1 },
      { cpu: 0.1, memory: 64 },
      { cpu: 0.1, memory: 1 },
      { cpu: 0.2, memory: 1 },
      { cpu: 0.7, memory: 1 },
      { cpu: 0.1, memory: 1 },
    ].map((resources) => createExecution({ resources }));
    for (const execution of resources) await store.create(execution);
    const claims = (await store.claim(request({ free: { cpu: 1, memory: 8 } }))).claims;
    expect(claims.map((claim) => claim.resources.cpu)).toEqual([0.1, 0.2, 0.7]);
    expect((await store.claim(request({ free: { cpu: 0, memory: 8 } }))).claims).toEqual([]);
    const rest = (await store.claim(request())).claims;
    expect(rest.map((claim) => claim.resources.cpu)).toEqual([16, 0.1, 0.1]);
    await Promise.all([...claims, ...rest].map((claim) => store.finish(claim, SUCCEEDED)));
  });

  test("eight claimers at once claim each of 500 executions exactly once", async () => {
    const store = use();
    await emptyQueue(store);
    const executions = Array.from({ length: 500 }, () => createExecution());
    await Promise.all(executions.map((execution) => store.create(execution)));
    const claimed: Claim[] = [];
    const work = (workerId: string) =>
      waitUntil(async () => {
        claimed.push(...(await store.claim(request({ workerId, limit: 7 }))).claims);
        return claimed.length >= executions.length;
      });
    await Promise.all(Array.from({ length: 8 }, (_, index) => work(`worker ${index}`)));
    expect(claimed.map(({ id }) => id).sort()).toEqual(executions.map(({ id }) => id).sort());
    expect(claimed.every(({ attempt }) => attempt === 1)).toBe(true);
    await Promise.all(claimed.map((claim) => store.finish(claim, SUCCEEDED)));
  });
}

function describeFinish(use: Use): void {
  test("a result comes back byte by byte, with its metadata, to its owner only", async () => {
    const store = use();
    const result = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x5c, 0x78, 0x7d]);
    const { execution, claim } = await start(store);
    expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    expect(await store.finish(claim, { status: "SUCCEEDED", result, metadata: Buffer.from("{}") })).toBe(
      true,
    );
    const stored = await store.readResult(execution.id, execution.owner.id);
    expect(Buffer.from(stored?.result ?? [])).toEqual(result);
    expect(Buffer.from(stored?.metadata ?? [])).toEqual(Buffer.from("{}"));
    expect(await store.readResult(execution.id, randomUUID())).toBeNull();
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "SUCCEEDED", failure: null });
    expect(record.endedAt).toBeGreaterThanOrEqual(record.startedAt ?? Infinity);
  });

  test("a result without metadata, and an empty one, are kept as they are", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.finish(claim, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata: null });
    const stored = await store.readResult(execution.id, execution.owner.id);
    expect(stored?.metadata).toBeNull();
    expect(stored?.result.byteLength).toBe(0);
  });

  test.each([FAILED, VANISHED])(
    "an execution that ends $status keeps code and detail and has no result",
    async (outcome) => {
      const store = use();
      const { execution, claim } = await start(store);
      expect(await store.finish(claim, outcome)).toBe(true);
      const failure = outcome.status === "SUCCEEDED" ? null : { code: outcome.code, detail: outcome.detail };
      expect(await read(store, execution)).toMatchObject({ status: outcome.status, failure });
      expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    },
  );

  test("a detail with characters that text columns cannot hold does not keep an execution from ending", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.finish(claim, NUL_DETAIL)).toBe(true);
    expect((await read(store, execution)).failure?.detail).toContain("\u{1F600}");
  });

  test("many executions that end at the same moment each get their own end", async () => {
    const store = use();
    await emptyQueue(store);
    const executions = Array.from({ length: 300 }, () => createExecution());
    await Promise.all(executions.map((execution) => store.create(execution)));
    const claims = (await store.claim(request())).claims;
    const ends = claims.map((claim, index) =>
      store.finish(
        claim,
        index % 3 === 0 ? FAILED : { status: "SUCCEEDED", result: Buffer.from(claim.id), metadata: null },
      ),
    );
    expect((await Promise.all(ends)).every(Boolean)).toBe(true);
    for (const [index, { id, owner }] of claims.entries()) {
      const stored = await store.readResult(id, owner.id);
      expect(stored === null ? null : Buffer.from(stored.result).toString()).toBe(
        index % 3 === 0 ? null : id,
      );
    }
  });

  test("only who holds the claim of this very attempt can end an execution", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.finish({ ...claim, workerId: "another" }, FAILED)).toBe(false);
    expect(await store.finish({ ...claim, attempt: 2 }, FAILED)).toBe(false);
    expect(await store.finish({ ...claim, id: createUuidV7() }, FAILED)).toBe(false);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect(await store.finish(claim, SUCCEEDED)).toBe(true);
  });

  test("an end that is written again, since its answer was lost, counts as written", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect([await store.finish(claim, SUCCEEDED), await store.finish(claim, SUCCEEDED)]).toEqual([
      true,
      true,
    ]);
    expect(await store.finish({ ...claim, workerId: "another" }, SUCCEEDED)).toBe(false);
    expect((await read(store, execution)).status).toBe("SUCCEEDED");
  });

  test("a final state never changes", async () => {
    const store = use();
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    expect(await store.finish(claim, SUCCEEDED)).toBe(true);
    const before = await read(store, execution);
    expect(await store.giveBack(claim, 0)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    expect(await store.finish(claim, FAILED)).toBe(false);
    expect(await store.cancel(execution.id, execution.owner.id)).toEqual(before);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [claim.id],
      cancelled: [],
      busy: [],
    });
    await store.sweep();
    expect(await store.create(execution)).toEqual(before);
    expect(await read(store, execution)).toEqual(before);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    expect(Buffer.from((await store.readResult(execution.id, execution.owner.id))?.result ?? [])).toEqual(
      Buffer.from('{"sum":3}'),
    );
  });
}

function describeCancel(use: Use): void {
  test("cancelling a waiting execution ends it at once, and it is never claimed", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = createExecution();
    await store.create(execution);
    const record = await store.cancel(execution.id, execution.owner.id);
    expect(record).toMatchObject({ status: "FAILED", startedAt: null, failure: { code: "CANCELLED" } });
    expect(record?.endedAt).toEqual(expect.any(Number));
    expect(await read(store, execution)).toEqual(record);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("cancelling a running execution leaves its end to the worker, who is told when it renews", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({
      status: "RUNNING",
      endedAt: null,
    });
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [claim.id],
      busy: [],
    });
    expect(await store.finish(claim, { status: "FAILED", code: "CANCELLED", detail: "Killed." })).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
  });

  test("nobody cancels another owner's execution", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.cancel(execution.id, randomUUID())).toBeNull();
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    await store.finish(claim, SUCCEEDED);
  });
}

function describeLeases(use: Use): void {
  test("a lease that ends makes the execution UNKNOWN, and its worker can write no more", async () => {
    const store = use();
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    await waitUntil(async () => (await store.sweep()) > 0);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(record.endedAt).toEqual(expect.any(Number));
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [claim.id],
      cancelled: [],
      busy: [],
    });
    expect(await read(store, execution)).toEqual(record);
    expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("a lease that is renewed outlives its first time; one that lasts is not swept", async () => {
    const store = use();
    const short = await start(store, {}, SHORT_LEASE);
    const long = await start(store, {}, LONG_LEASE);
    expect(await store.renew("worker", [short.claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    // A third one ends, so that sweeping surely came after the first time of the renewed one.
    const witness = await start(store, {}, SHORT_LEASE);
    await waitUntil(async () => (await store.sweep()) > 0);
    expect((await read(store, witness.execution)).status).toBe("UNKNOWN");
    expect(await store.finish(short.claim, SUCCEEDED)).toBe(true);
    expect(await store.finish(long.claim, SUCCEEDED)).toBe(true);
  });

  test("nobody renews the claim of another worker or attempt", async () => {
    const store = use();
    const { claim } = await start(store);
    expect((await store.renew("another", [{ ...claim, workerId: "another" }], LONG_LEASE)).lost).toEqual([
      claim.id,
    ]);
    expect((await store.renew("worker", [{ ...claim, attempt: 2 }], LONG_LEASE)).lost).toEqual([claim.id]);
    expect(await store.renew("worker", [], LONG_LEASE)).toEqual({ lost: [], cancelled: [], busy: [] });
    await store.finish(claim, SUCCEEDED);
  });
}

function describeGiveBack(use: Use): void {
  test("what could not be started waits again and is claimed anew, by a new attempt; the old one writes no more", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.giveBack(claim, 0)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", startedAt: null, endedAt: null });
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    const [next = claim] = (await store.claim(request({ workerId: "another" }))).claims;
    expect(next).toMatchObject({ id: execution.id, attempt: 2, setbacks: 1, workerId: "another" });
    expect(Buffer.from(next.body)).toEqual(Buffer.from(execution.body));
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    expect((await store.renew("worker", [claim], LONG_LEASE)).lost).toEqual([execution.id]);
    expect(await store.finish(next, SUCCEEDED)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "SUCCEEDED" });
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
  });

  test("what was given back is not claimed before its pause is over, and counts as pending meanwhile", async () => {
    const store = use();
    const long = await start(store);
    await store.giveBack(long.claim, 3600);
    const short = createExecution();
    await store.create(short);
    const [claim] = (await store.claim(request())).claims;
    if (claim === undefined) throw new Error("There was nothing to claim.");
    expect(claim.id).toBe(short.id);
    await store.giveBack(claim, 0.05);
    const claimed: Claim[] = [];
    await waitUntil(async () => {
      const answer = await store.claim(request());
      claimed.push(...answer.claims);
      expect(answer.isDrained).toBe(false);
      return claimed.length > 0;
    });
    expect(claimed).toMatchObject([{ id: short.id, attempt: 2, setbacks: 1 }]);
    await Promise.all(claimed.map((each) => store.finish(each, SUCCEEDED)));
    await store.cancel(long.execution.id, long.execution.owner.id);
  });

  test("only who holds the claim of this very attempt gives it back; repeating it says yes and counts once", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.giveBack({ ...claim, workerId: "another" }, 0)).toBe(false);
    expect(await store.giveBack({ ...claim, attempt: 2 }, 0)).toBe(false);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect([await store.giveBack(claim, 0), await store.giveBack(claim, 0)]).toEqual([true, true]);
    const [next] = (await store.claim(request())).claims;
    expect(next?.setbacks).toBe(1);
    expect(await store.giveBack(claim, 0)).toBe(true);
    expect((await read(store, execution)).status).toBe("RUNNING");
    if (next !== undefined) await store.finish(next, SUCCEEDED);
  });

  test("what a worker gives back because it stops may be claimed at once, and that is no setback", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect([await store.giveBack(claim, null), await store.giveBack(claim, null)]).toEqual([true, true]);
    const [next] = (await store.claim(request())).claims;
    expect(next).toMatchObject({ id: execution.id, attempt: 2, setbacks: 0 });
    if (next !== undefined) await store.finish(next, SUCCEEDED);
  });

  test("what is given back after its cancellation was asked for is cancelled", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.cancel(execution.id, execution.owner.id);
    expect([await store.giveBack(claim, 0), await store.giveBack(claim, 0)]).toEqual([true, true]);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "FAILED", startedAt: null, failure: { code: "CANCELLED" } });
    expect(record.endedAt).toEqual(expect.any(Number));
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("a worker claims nothing of the versions that it cannot start, and others do", async () => {
    const store = use();
    await emptyQueue(store);
    const [sick, sound] = [createExecution(), createExecution()];
    for (const execution of [sick, sound]) await store.create(execution);
    const first = await store.claim(request({ excludedVersionIds: [sick.versionId, randomUUID()] }));
    expect(first.claims.map(({ id }) => id)).toEqual([sound.id]);
    expect(first.isDrained).toBe(false);
    const second = await store.claim(request({ workerId: "another" }));
    expect(second.claims.map(({ id }) => id)).toEqual([sick.id]);
    await Promise.all([...first.claims, ...second.claims].map((claim) => store.finish(claim, SUCCEEDED)));
  });
}

function createLine(message: string, severity: LogLine["severity"] = "INFO"): LogLine {
  return { time: Date.UTC(2026, 10, 20, 21, 17, 5, 999), severity, message };
}

function createLong(index: number): string {
  return `${index} ${"x".repeat(1000)}`;
}

function parseLog(page: LogPage | null): readonly LogEntry[] | null {
  return page === null ? null : (JSON.parse(Buffer.from(page.lines).toString()) as LogEntry[]);
}

/** From a cursor on, as `logs` does: until the log is complete or there is nothing more for now. */
async function readToEnd(store: ExecutionStore, { id, owner }: NewExecution, cursor?: string) {
  const messages: string[] = [];
  let largest = 0;
  let next = cursor;
  for (;;) {
    const page = await store.readLog(id, owner.id, next);
    const entries = parseLog(page) ?? [];
    messages.push(...entries.map(({ message }) => message));
    largest = Math.max(largest, page?.lines.byteLength ?? 0);
    if (page === null || page.nextCursor === null || entries.length === 0)
      return { messages, largest, nextCursor: page?.nextCursor ?? null };
    next = page.nextCursor;
  }
}

function describeLog(use: Use): void {
  test("log lines come back in order as JSON, to their owner only", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    const awkward = 'quote " backslash \\ newline \n nul \0 emoji \u{1F600}';
    await store.appendLog(claim, []);
    await store.appendLog(claim, [createLine("one"), createLine(awkward, "ERROR")]);
    await Promise.all(
      ["three", "four", "five"].map((message) => store.appendLog(claim, [createLine(message)])),
    );
    await store.finish(claim, SUCCEEDED);
    const timestamp = "2026-11-20 21:17:05";
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([
      { timestamp, severity: "INFO", message: "one" },
      { timestamp, severity: "ERROR", message: awkward },
      ...["three", "four", "five"].map((message) => ({ timestamp, severity: "INFO", message })),
    ]);
    expect(await store.readLog(execution.id, randomUUID())).toBeNull();
  });

  test("a long log is read in bounded pages, each line once, while it grows and after its end", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const append = (from: number, to: number) =>
      store.appendLog(
        claim,
        Array.from({ length: to - from }, (_, index) => createLine(createLong(from + index))),
      );
    await append(0, 2500);
    await append(2500, 2501);
    const first = await readToEnd(store, execution);
    expect(first.messages).toEqual(Array.from({ length: 2501 }, (_, index) => createLong(index)));
    expect(first.largest).toBeLessThan(LOG_PAGE_BYTES * 1.1);
    await append(2501, 2503);
    const second = await readToEnd(store, execution, first.nextCursor ?? "");
    expect(second.messages).toEqual([createLong(2501), createLong(2502)]);
    expect(second.nextCursor).not.toBeNull();
    await append(2503, 2504);
    await store.finish(claim, SUCCEEDED);
    expect(await readToEnd(store, execution, second.nextCursor ?? "")).toMatchObject({
      messages: [createLong(2503)],
      nextCursor: null,
    });
    expect((await readToEnd(store, execution)).nextCursor).toBeNull();
  });

  test("a log that is empty can be followed from its beginning, and a made-up cursor is refused", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { nextCursor } = await readToEnd(store, execution);
    await store.appendLog(claim, [createLine("first")]);
    await store.finish(claim, SUCCEEDED);
    expect(await readToEnd(store, execution, nextCursor ?? "")).toMatchObject({
      messages: ["first"],
      nextCursor: null,
    });
    for (const cursor of ["", "-1", "x", "1e9", "WyIxIiwiMiJd", "9".repeat(40)])
      await expect(store.readLog(execution.id, execution.owner.id, cursor)).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
  });

  test("only who holds the claim writes to the log", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.appendLog({ ...claim, workerId: "another" }, [createLine("foreign")]);
    await store.appendLog({ ...claim, attempt: 2 }, [createLine("foreign")]);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    await store.finish(claim, SUCCEEDED);
  });
}

function describeList(use: Use): void {
  test("a list shows the owner's executions newest first, page by page, each once", async () => {
    const store = use();
    const owner = createOwner();
    const executions: NewExecution[] = [];
    for (let index = 0; index < 5; index++) {
      const execution = createExecution({ owner });
      await store.create(execution);
      executions.unshift(execution);
    }
    const shown: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await store.list(owner.id, { limit: 2, ...(cursor === null ? {} : { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      shown.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(shown).toEqual(executions.map(({ id }) => id));
    expect((await store.list(owner.id, { limit: 5 })).nextCursor).toBeNull();
    expect(await store.list(randomUUID(), { limit: 5 })).toEqual({ items: [], nextCursor: null });
    await emptyQueue(store);
  });

  test("a list can be cut by state and time", async () => {
    const store = use();
    const owner = createOwner();
    const { execution, claim } = await start(store, { owner });
    const waiting = createExecution({ owner });
    const { createdAt } = await store.create(waiting);
    const ids = async (filter: Omit<Parameters<ExecutionStore["list"]>[1], "limit">) =>
      (await store.list(owner.id, { limit: 10, ...filter })).items.map(({ id }) => id);
    expect(await ids({ status: "RUNNING" })).toEqual([execution.id]);
    expect(await ids({ status: "PENDING" })).toEqual([waiting.id]);
    expect(await ids({ status: "UNKNOWN" })).toEqual([]);
    expect(await ids({ createdAfter: createdAt })).toContain(waiting.id);
    expect(await ids({ createdBefore: createdAt })).not.toContain(waiting.id);
    expect(await ids({ createdBefore: createdAt + 1 })).toEqual([waiting.id, execution.id]);
    expect(await ids({ createdAfter: createdAt + 1 })).toEqual([]);
    await store.finish(claim, SUCCEEDED);
    await store.cancel(waiting.id, owner.id);
  });
}

function describeEvents(use: Use): void {
  test("listeners hear what happens, with the record where it happened", async () => {
    const store = use();
    await emptyQueue(store);
    const events: StoreEvent[] = [];
    const stop = store.subscribe((event) => events.push(event));
    const changedTo = (id: string) =>
      events
        .filter((event) => event.type === "changed" && event.id === id)
        .map((event) => (event.type === "changed" ? event.record?.status : null));
    const first = createExecution();
    await store.create(first);
    await waitUntil(() => events.some(({ type }) => type === "pending"));
    const [claim] = (await store.claim(request({ leaseSeconds: LONG_LEASE }))).claims;
    if (claim === undefined) throw new Error("There was nothing to claim.");
    await store.cancel(first.id, first.owner.id);
    await waitUntil(() => events.some((event) => event.type === "cancel" && event.id === first.id));
    await store.finish(claim, SUCCEEDED);
    await waitUntil(() => changedTo(first.id).includes("SUCCEEDED"));
    const second = createExecution();
    await store.create(second);
    await store.cancel(second.id, second.owner.id);
    await waitUntil(() => changedTo(second.id).includes("FAILED"));
    const third = await start(store, {}, SHORT_LEASE);
    await waitUntil(async () => (await store.sweep()) > 0);
    await waitUntil(() => changedTo(third.execution.id).includes("UNKNOWN"));
    stop();
    const heard = events.length;
    await store.create(createExecution());
    await emptyQueue(store);
    expect(events).toHaveLength(heard);
  });
}
