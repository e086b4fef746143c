import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createKeptObjects } from "./kept-objects.ts";
import { createLocalObjects } from "./local-objects.ts";
import { StoreUnavailable } from "./object-store.ts";
import type { ObjectStore, Objects } from "./object-store.ts";
import { adoptObjects, checkStorage, sweepObjects } from "./sweep.ts";

let home: TestDatabase;
let directory: string;
let store: ObjectStore;
let objects: Objects;
const rows = () => createObjectRows(home.database, 30);

beforeAll(async () => {
  home = await createTestDatabase();
  // What names an object here: a service of nobody, with a build for each name.
  await run(`insert into organisation (id, name, slug) values ('${SERVICE}', 'Lab', 'lab')`);
  await run(`insert into service (key, organisation_id, name) values ('${SERVICE}', '${SERVICE}', 'solver')`);
});
afterAll(() => home?.close());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "sweep-"));
  store = createLocalObjects(directory);
  objects = createKeptObjects(store, rows());
  await run("delete from build");
  await run("delete from object");
  return () => rm(directory, { recursive: true, force: true });
});

const SERVICE = "00000000-0000-7000-8000-000000000001";
const run = (query: string, ...values: readonly unknown[]) => home.database.query({ text: query, values });
const age = () =>
  run(
    "update object set kept_at = kept_at - interval '2 days', removing_until = removing_until - interval '2 days'",
  );

async function keep(content: string, at: Objects = objects): Promise<string> {
  const received = await at.receive(Readable.from([content]), 1_000);
  await received.keep().finally(received.drop);
  return received.hash;
}

/** A row that names the object. */
const name = (hash: string) =>
  run(
    `insert into build (id, service_key, major, minor, patch, archive_hash, content_hash, requested_by)
      values (gen_random_uuid(), $1, 1, 0, (select count(*) from build), $2, $2, $3)`,
    SERVICE,
    hash,
    SERVICE,
  );
const endAll = () =>
  run("update build set status = 'FAILED', ended_at = now(), failure_code = 'BUILD_FAILED'");

describe("the sweep", () => {
  test("removes what no row names a day after it was kept, with its row", async () => {
    const [stray, named] = [await keep("stray"), await keep("named")];
    await name(named);
    await age();
    const young = await keep("young");
    expect(await sweepObjects({ store, rows: rows() })).toBe(1);
    expect(await Promise.all([stray, named, young].map(store.has))).toEqual([false, true, true]);
    expect(await run("select hash from object order by hash")).toEqual(
      [named, young].toSorted().map((hash) => ({ hash })),
    );
  });

  test("keeps what an execution has returned while its row is there", async () => {
    const hash = await keep("result");
    await run(
      "insert into execution_output (execution_id, name, hash, bytes) values ($1, '', $2, 6)",
      SERVICE,
      hash,
    );
    await age();
    expect(await sweepObjects({ store, rows: rows() })).toBe(0);
    await run("delete from execution_output");
    expect(await sweepObjects({ store, rows: rows() })).toBe(1);
    expect(await store.has(hash)).toBe(false);
  });

  test("of many objects takes all, and two at once take each once", async () => {
    for (let index = 0; index < 230; index++) await keep(`object ${index}`);
    await age();
    const removed = await Promise.all([1, 2].map(() => sweepObjects({ store, rows: rows() })));
    expect(removed.reduce((sum, count) => sum + count)).toBe(230);
    expect(await run("select 1 from object")).toEqual([]);
  });

  test("marks each object for one process, and forgets none that was kept again since", async () => {
    const hash = await keep("marked");
    await age();
    const [first] = await rows().mark();
    expect(first).toEqual({ hash, bytes: 6, mark: expect.any(String) });
    if (first === undefined) throw new Error("Nothing was marked.");
    expect(await rows().mark()).toEqual([]);
    await age();
    expect(await rows().note({ hash, bytes: 6 })).toBe(true);
    expect(await rows().forget(first)).toBe(false);
    expect(await run("select hash from object")).toEqual([{ hash }]);
  });

  test("forgets no object by a mark that has ended: another process is just removing it", async () => {
    await keep("slow");
    await age();
    const [late] = await rows().mark();
    await age();
    const [next] = await rows().mark();
    if (late === undefined || next === undefined) throw new Error("Nothing was marked.");
    // Otherwise equal content could be kept while the other removal is on its way.
    expect(await rows().forget(late)).toBe(false);
    expect(await rows().note({ hash: next.hash, bytes: 4 })).toBe(false);
    expect(await rows().forget(next)).toBe(true);
  });

  test("goes on behind an object that cannot be removed, and says so", async () => {
    const bad = await keep("bad");
    await keep("good");
    await age();
    const failing = {
      ...store,
      remove: async (hash: string) => {
        if (hash === bad) throw new StoreUnavailable("gone away");
        await store.remove(hash);
      },
    };
    await expect(sweepObjects({ store: failing, rows: rows() })).rejects.toThrow("gone away");
    expect(await run("select hash from object")).toEqual([{ hash: bad }]);
    // Whether the store has done it is not known: nobody keeps it until its mark has ended.
    expect(await rows().note({ hash: bad, bytes: 3 })).toBe(false);
    await age();
    expect(await keep("bad")).toBe(bad);
  });

  test("asks a store that removes nothing for one group only: the rest can be kept again at once", async () => {
    await run(
      `insert into object (hash, kept_at) select encode(sha256(n::text::bytea), 'hex'), now() - interval '2 days'
        from generate_series(1, 230) as n`,
    );
    const down = { ...store, remove: () => Promise.reject(new StoreUnavailable("down")) };
    await expect(sweepObjects({ store: down, rows: rows() })).rejects.toThrow("down");
    expect(await run("select count(*)::int as n from object where removing_until is not null")).toEqual([
      { n: 100 },
    ]);
  });

  test("decides about content without a row as about the rest, a day after it was stored", async () => {
    const received = await store.receive(Readable.from(["of a former release"]), 100);
    await received.keep();
    expect(await adoptObjects({ store, rows: rows() })).toBe(1);
    expect(await adoptObjects({ store, rows: rows() })).toBe(0);
    expect(await sweepObjects({ store, rows: rows() })).toBe(0);
    await age();
    expect(await sweepObjects({ store, rows: rows() })).toBe(1);
    expect(await store.has(received.hash)).toBe(false);
  });

  test("is foretold exactly, with what is damaged", async () => {
    const [unneeded, named, lost] = [await keep("unneeded"), await keep("named"), await keep("lost")];
    await name(named);
    await name(lost);
    // Of a process that was killed between the row and its content.
    await rows().note({ hash: "a".repeat(64), bytes: 1 });
    await run("update object set kept_at = kept_at - interval '2 hours'");
    await store.remove(lost);
    expect(await checkStorage({ store, rows: rows() })).toMatchObject({
      unneeded: [],
      missing: [{ hash: lost }],
    });
    await run("delete from object where hash = $1", "a".repeat(64));
    await age();
    const unknown = await store.receive(Readable.from(["unknown"]), 100);
    await unknown.keep();
    const report = await checkStorage({ store, rows: rows() });
    expect(report).toMatchObject({
      unneeded: [{ hash: unneeded, bytes: 8 }],
      unknown: [{ hash: unknown.hash, bytes: 7 }],
      missing: [{ hash: lost, bytes: 4 }],
    });
    expect(await sweepObjects({ store, rows: rows() })).toBe(report.unneeded.length);
    expect((await checkStorage({ store, rows: rows() })).unneeded).toEqual([]);
  });
});

/** A store of which a removal may come late, or not be answered. */
function createSlowStore(given: ObjectStore) {
  const late: string[] = [];
  const state: { mode: "at once" | "late" | "not answered" | "refused" } = { mode: "at once" };
  const slow: ObjectStore = {
    ...given,
    remove: async (hash) => {
      if (state.mode === "at once") return await given.remove(hash);
      if (state.mode === "late") late.push(hash);
      if (state.mode === "not answered") await given.remove(hash);
      throw new StoreUnavailable(state.mode);
    },
  };
  const settle = async () => {
    for (const hash of late.splice(0)) await given.remove(hash);
  };
  return { slow, state, settle };
}

const CONTENTS = ["a", "b"] as const;
const step = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    content: fc.constantFrom(...CONTENTS),
    isNamed: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("sweep" as const),
    mode: fc.constantFrom("at once" as const, "late" as const, "not answered" as const, "refused" as const),
  }),
  fc.record({
    kind: fc.constant("race" as const),
    content: fc.constantFrom(...CONTENTS),
    mode: fc.constantFrom("at once" as const, "late" as const),
  }),
  fc.record({ kind: fc.constantFrom("end" as const, "age" as const, "settle" as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test("whatever is kept, named, swept and aged in whatever order, what a row names is there", async () => {
  const { slow, state, settle } = createSlowStore(store);
  // Marks are not waited for: who cannot keep something now is told so, which is no loss.
  const impatient = createKeptObjects(slow, {
    note: async (object) => {
      if (await rows().note(object)) return true;
      throw new StoreUnavailable("being removed");
    },
  });
  const named = new Set<string>();
  const put = async (content: string, isNamed: boolean) => {
    const hash = await keep(content, impatient).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
    if (hash === null || !isNamed) return;
    await name(hash);
    named.add(content);
  };
  const sweep = (mode: typeof state.mode) => {
    state.mode = mode;
    return sweepObjects({ store: slow, rows: rows() }).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
  };
  const take = async (taken: Step): Promise<unknown> => {
    switch (taken.kind) {
      case "put":
        return await put(taken.content, taken.isNamed);
      case "sweep":
        return await sweep(taken.mode);
      case "race":
        return await Promise.all([put(taken.content, true), sweep(taken.mode)]);
      case "end":
        named.clear();
        return await endAll();
      case "age":
        // A store has done what it was told before a mark ends.
        await settle();
        return await age();
      case "settle":
        return await settle();
      default:
        return taken satisfies never;
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      for (const taken of steps) {
        await take(taken);
        for (const content of named) {
          const received = await store.receive(Readable.from([content]), 1);
          await received.drop();
          expect(await text(await store.read(received.hash))).toBe(content);
        }
      }
      await settle();
      for (const content of named) expect(await keep(content)).toBeTypeOf("string");
      // Nothing that is not needed stays for ever: what is still marked, or was stored without a row, goes with the next rounds.
      named.clear();
      await run("delete from build");
      await age();
      await adoptObjects({ store, rows: rows() });
      await age();
      await sweepObjects({ store, rows: rows() });
      expect(await run("select hash from object")).toEqual([]);
      for await (const { hash } of store.list()) expect(hash).toBe("not there");
    }),
    { numRuns: 60 },
  );
});
