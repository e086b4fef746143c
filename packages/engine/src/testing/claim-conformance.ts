import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import type { Claim, NewExecution } from "../store/execution-store.ts";
import {
  createOwner,
  SMALL,
  createExecution,
  request,
  emptyQueue,
  start,
  read,
  SUCCEEDED,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

export function describeCreate(use: Use): void {
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
      sandboxLevel: null,
      failure: null,
    });
    expect(Math.abs(record.createdAt - before)).toBeLessThan(60_000);
    expect(await store.find(id, owner.id)).toEqual({ ...record, live: expect.anything() });
    expect(await store.find(id, randomUUID())).toBeNull();
    expect(await store.find(createUuidV7(), owner.id)).toBeNull();
    await store.cancel(id, owner.id);
  });

  test("a claim has what the caller's trace is, and nothing where there is none", async () => {
    const store = use();
    await emptyQueue(store);
    const trace = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "acme=1",
    };
    const outputPool = { path: ["params", "out"], dataPoolId: randomUUID(), userId: null };
    const given = [{}, { trace }, { outputPool, trace }].map((more) => ({ ...createExecution(), ...more }));
    // Together, and one that is claimed alone.
    await Promise.all(given.map((execution) => store.create(execution)));
    const { claims } = await store.claim(request({ free: { cpu: 8, memory: 8 } }));
    for (const { id, trace: expected } of given) {
      const claim = claims.find((one) => one.id === id);
      expect([claim?.trace, claim?.references]).toEqual([expected, {}]);
    }
    for (const claim of claims) await store.finish(claim, SUCCEEDED);
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
    const again = await store.create({ ...execution, body: Buffer.from("{}") });
    expect(again).toMatchObject(record);
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
    expect(found).toEqual(records.map((record) => ({ ...record, live: expect.anything() })));
    await emptyQueue(store);
  });
}

export function describeClaim(use: Use): void {
  test("a claim marks RUNNING and hands over everything that was given at create", async () => {
    const store = use();
    const references = {
      data: {
        dataPoolId: randomUUID(),
        dataSourceDescriptorId: randomUUID(),
        fileId: randomUUID(),
        sha256: "0".repeat(64),
        bytes: 12,
        range: { start: 1, end: 9 },
      },
      pools: [
        {
          path: ["params", "maps"],
          dataPoolId: randomUUID(),
          files: ["a.json", "b.json"].map((name) => ({
            name,
            fileId: randomUUID(),
            sha256: "0".repeat(64),
            bytes: 3,
          })),
        },
      ],
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
