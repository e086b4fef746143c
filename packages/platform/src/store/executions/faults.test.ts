import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Claim, ClaimRequest, NewExecution, StoreEvent } from "@platform/engine/store/execution-store";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { startEmbeddedPostgres } from "../../postgres/supervisor.ts";
import { createRecordingLogger } from "../../testing/test-database.ts";
import { prepareDatabase } from "../prepare.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

let close: TestStore["close"];
let home: TestStore["home"];
let database: TestStore["database"];
let store: TestStore["store"];

beforeAll(async () => {
  ({ close, home, database, store } = await createTestStore());
});

afterAll(() => close());

const REQUEST: ClaimRequest = {
  workerId: "worker",
  sandboxLevel: "B" as const,
  limit: 1000,
  free: { cpu: 1e6, memory: 1e6 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

async function finishAll(claims: readonly Claim[], on = store): Promise<readonly boolean[]> {
  return Promise.all(
    claims.map((claim) =>
      on.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null }),
    ),
  );
}

/** The same database, with something going wrong on the way to or from it. */
function disturb(change: (run: RunStatement) => RunStatement): Database {
  return { ...database, query: change(database.query) };
}

test("one bad execution in a group fails alone", async () => {
  const good = Array.from({ length: 20 }, () => createExecution());
  const bad = createExecution({ timeoutSeconds: 0 });
  const results = await Promise.allSettled(
    [...good.slice(0, 10), bad, ...good.slice(10)].map((each) => store.create(each)),
  );
  expect(results.map(({ status }) => status).filter((status) => status === "rejected")).toHaveLength(1);
  expect(results[10]?.status).toBe("rejected");
  expect(await finishAll((await store.claim(REQUEST)).claims)).toHaveLength(20);
});

test("a start that may have been accepted is not refused with UNAVAILABLE, which promises that nothing was", async () => {
  const disturbed = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      const rows = await run(statement);
      if (statement.name !== "execution-create") return rows as never;
      throw new FateUnknown(new Error("Connection terminated unexpectedly"));
    }),
  });
  const execution = createExecution();
  await expect(disturbed.create(execution)).rejects.toMatchObject({ code: "INTERNAL_ERROR", status: 500 });
  expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({ status: "FAILED" });
});

test("what a claim took whose answer was lost is handed out by the next claim", async () => {
  let isLost = false;
  const disturbed = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      const rows = await run(statement);
      if (statement.name !== "execution-claim" || isLost) return rows as never;
      isLost = true;
      throw new FateUnknown(new Error("Connection terminated"));
    }),
  });
  const execution = createExecution();
  await store.create(execution);
  await expect(disturbed.claim(REQUEST)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await store.find(execution.id, execution.owner.id)).toMatchObject({ status: "RUNNING" });
  const claims = (await disturbed.claim(REQUEST)).claims;
  expect(claims.map(({ id, attempt }) => ({ id, attempt }))).toEqual([{ id: execution.id, attempt: 1 }]);
  expect((await disturbed.claim(REQUEST)).claims).toEqual([]);
  expect(await finishAll(claims)).toEqual([true]);
});

test("what a claim takes that goes on in the server after its connection broke is handed out as well", async () => {
  const late: (() => Promise<unknown>)[] = [];
  const disturbed = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      if (statement.name !== "execution-claim" || late.length > 0) return run(statement);
      late.push(() => run(statement));
      throw new FateUnknown(new Error("Connection terminated"));
    }),
  });
  const execution = createExecution();
  await store.create(execution);
  await expect(disturbed.claim(REQUEST)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const tooSmall = { ...REQUEST, free: { cpu: 0.5, memory: 0.5 } };
  expect((await disturbed.claim(tooSmall)).claims).toEqual([]);
  await Promise.all(late.map((take) => take()));
  const { claims } = await disturbed.claim(REQUEST);
  expect(claims.map(({ id, attempt }) => ({ id, attempt }))).toEqual([{ id: execution.id, attempt: 1 }]);
  expect((await disturbed.claim(REQUEST)).claims).toEqual([]);
  expect(await finishAll(claims)).toEqual([true]);
});

test("an end whose first answer was lost counts as written, once", async () => {
  const disturbed = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      if (statement.name === "execution-finish") await run(statement);
      return run(statement);
    }),
  });
  const [ours, theirs] = [createExecution(), createExecution()];
  await Promise.all([store.create(ours), store.create(theirs)]);
  const claims = (await store.claim(REQUEST)).claims;
  const ends = await Promise.all(
    claims.map((claim) =>
      disturbed.finish(claim.id === ours.id ? claim : { ...claim, workerId: "stale" }, {
        status: "FAILED",
        code: "EXECUTION_ERROR",
        detail: "no",
      }),
    ),
  );
  expect(ends).toEqual(claims.map(({ id }) => id === ours.id));
  await finishAll(claims);
});

test("executions, claims and ends survive connections that break all the time", async () => {
  const executions = Array.from({ length: 200 }, () => createExecution());
  const claims: Claim[] = [];
  const ended: boolean[] = [];
  let created = 0;
  const traffic = { isOver: false };
  const countSteps = () => created + claims.length + ended.length;
  /** As often as the machine allows: a few executions move on between two breaks, however slow it is. */
  const breaking = (async () => {
    let breaks = 0;
    for (; !traffic.isOver; breaks++) {
      const before = countSteps();
      await waitUntil(() => traffic.isOver || countSteps() >= before + 5);
      await home.database.query({
        text: "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
        idempotent: true,
      });
    }
    return breaks;
  })();
  const create = async () => {
    for (const execution of executions) {
      await store.create(execution);
      created++;
    }
  };
  const claiming = (async () => {
    while (!traffic.isOver && claims.length < executions.length) {
      const answer = await store.claim({ ...REQUEST, limit: 10 }).catch(() => ({ claims: [] }));
      claims.push(...answer.claims);
      ended.push(...(await finishAll(answer.claims)));
    }
  })();
  try {
    // It rejects where nothing has moved for a minute.
    await Promise.race([Promise.all([create(), claiming]), breaking]);
  } finally {
    traffic.isOver = true;
    await Promise.allSettled([breaking, claiming]);
  }
  expect(ended).toEqual(executions.map(() => true));
  expect(await breaking).toBeGreaterThan(10);
  expect(claims.map(({ id }) => id).sort()).toEqual(executions.map(({ id }) => id).sort());
  expect(claims.every(({ attempt }) => attempt === 1)).toBe(true);
});

test("another process hears of what this one does, and of lost hints when its connection broke", async () => {
  const other = createExecutionDatabase(home.target, { logger: home.logger });
  const otherStore = createPostgresExecutionStore({ database: other });
  const events: StoreEvent[] = [];
  otherStore.subscribe((event) => events.push(event));
  const countResets = () => events.filter(({ type }) => type === "reset").length;
  await waitUntil(() => countResets() === 1);
  const execution = createExecution();
  await store.create(execution);
  await waitUntil(() => events.some(({ type }) => type === "pending"));
  const claims = (await store.claim(REQUEST)).claims;
  await store.cancel(execution.id, execution.owner.id);
  await waitUntil(() => events.some((event) => event.type === "cancel" && event.id === execution.id));
  await finishAll(claims);
  await waitUntil(() => events.some((event) => event.type === "changed" && event.id === execution.id));
  const resets = countResets();
  await home.database.query({
    text: "select pg_terminate_backend(pid) from pg_stat_activity where (query like 'listen%' or query = 'select 1') and pid <> pg_backend_pid() and datname = current_database()",
  });
  await waitUntil(() => countResets() >= resets + 2);
  expect(events.filter(({ type }) => type === "cancel")).toHaveLength(1);
  await otherStore.close();
  await other.close();
});

test("a process does not hear its own notifications a second time", async () => {
  const own: StoreEvent[] = [];
  store.subscribe((event) => own.push(event));
  await waitUntil(() => own.some(({ type }) => type === "reset"));
  const execution = createExecution();
  await store.create(execution);
  await store.cancel(execution.id, execution.owner.id);
  // A notification of somebody else comes after ours in the same channel.
  await home.database.query({ text: "select pg_notify('executions', 'somebody:pending')" });
  await waitUntil(() => own.filter(({ type }) => type === "pending").length >= 2);
  expect(own.filter((event) => event.type === "changed" && event.id === execution.id)).toHaveLength(1);
  expect(own.filter(({ type }) => type === "pending")).toHaveLength(2);
});

test("no acknowledged execution is lost when every process of the server is killed, and starts go on afterwards", async () => {
  const root = await mkdtemp(join(tmpdir(), "platform-kill-"));
  await chmod(root, 0o755);
  const logger = createRecordingLogger();
  const server = await startEmbeddedPostgres({ directory: join(root, "postgres"), logger });
  // A server that was killed may need longer to recover than statements are repeated for otherwise.
  const own = createExecutionDatabase(server.connection, { logger, retryMilliseconds: 60_000 });
  const ownStore = createPostgresExecutionStore({ database: own });
  try {
    await prepareDatabase(own, { logger, retentionDays: 30 });
    const acknowledged: NewExecution[] = [];
    const call = async () => {
      for (let index = 0; index < 60; index++) {
        const execution = createExecution();
        await ownStore.create(execution);
        acknowledged.push(execution);
      }
    };
    const calls = Promise.all(Array.from({ length: 8 }, call));
    await waitUntil(() => acknowledged.length > 100);
    await killServer(join(root, "postgres", "data", "postmaster.pid"));
    await calls;
    const found = await Promise.all(acknowledged.map(({ id, owner }) => ownStore.find(id, owner.id)));
    expect(found.filter((record) => record?.status === "PENDING")).toHaveLength(8 * 60);
  } finally {
    await ownStore.close();
    await own.close();
    await server.stop();
    await rm(root, { recursive: true, force: true });
  }
});

async function killServer(pidFile: string): Promise<void> {
  const postmaster = Number((await readFile(pidFile, "utf8")).split("\n")[0]);
  const children: number[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent === postmaster) children.push(Number(name));
  }
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself when its parent did.
    }
  }
}
