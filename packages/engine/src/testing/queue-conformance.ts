import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Claim, ExecutionStore, NewExecution } from "../store/execution-store.ts";
import {
  createExecution,
  createOwner,
  emptyQueue,
  finishAll,
  PLENTY,
  request,
  SMALL,
} from "./execution-fixtures.ts";
import type { Owner } from "../store/owner.ts";

const LARGE = { cpu: 1, memory: 8 };

/** The promises of an ExecutionStore about whose turn it is; part of its conformance suite. */
export function describeFairness(use: () => ExecutionStore): void {
  test("an owner's executions begin in the order of their creation, also when many are created at once", async () => {
    const store = use();
    await emptyQueue(store);
    const executions = await createMany(store, 300, "A");
    const claims = await claim(store, PLENTY, 1000);
    expect(claims.map(({ id }) => id)).toEqual(executions.map(({ id }) => id));
    await finishAll(store, claims);
  });

  test("owners take turns: who comes new waits for less than two executions of another's backlog", async () => {
    const store = use();
    await emptyQueue(store);
    await createMany(store, 100, "A");
    const turns = await serve(store, 40, async (turn) => {
      if (turn === 10) await createMany(store, 10, "B");
      if (turn === 16) await createMany(store, 10, "C");
    });
    // In turn 10 one of A's runs and ends; then A's next, whose turn it is, and then B.
    expect(turns.indexOf("B")).toBe(12);
    expect(count(turns.slice(17, turns.indexOf("C")))).toEqual({ A: 1, B: 1 });
    expect(count(turns.slice(20, 35))).toEqual({ A: 5, B: 5, C: 5 });
    await emptyQueue(store);
  });

  test("owners who come one after another do not keep a backlog from going on", async () => {
    const store = use();
    await emptyQueue(store);
    await createMany(store, 30, "A");
    const turns = await serve(
      store,
      40,
      async (turn) => void (await createMany(store, 1, `newcomer ${turn}`)),
    );
    expect(count(turns)["A"]).toBeGreaterThanOrEqual(7);
    await emptyQueue(store);
  });

  test("an owner who always has one running and one waiting gets no more than a backlog beside it", async () => {
    const store = use();
    await emptyQueue(store);
    await createMany(store, 30, "A");
    await createMany(store, 1, "B");
    const turns = await serve(store, 20, async (_turn, running) => {
      if (running === "B") await createMany(store, 1, "B");
    });
    expect(count(turns)).toEqual({ A: 10, B: 10 });
    await emptyQueue(store);
  });

  test("an execution that finds no room at the head of the queue does not let newcomers pass a backlog", async () => {
    const store = use();
    await emptyQueue(store);
    await createMany(store, 1, "stuck", LARGE);
    await createMany(store, 30, "A");
    await serve(store, 10, async () => undefined, SMALL);
    for (const owner of ["B", "C", "D"]) await createMany(store, 1, owner);
    const turns = await serve(
      store,
      20,
      async (_turn, running) => {
        if (running !== "A") await createMany(store, 1, running);
      },
      SMALL,
    );
    expect(count(turns)["A"]).toBeGreaterThanOrEqual(5);
    await emptyQueue(store);
  });

  test("small executions that go on while large ones wait put no large newcomer behind a backlog", async () => {
    const store = use();
    await emptyQueue(store);
    await createMany(store, 30, "A", LARGE);
    const large = await claim(store, LARGE, 1);
    await createMany(store, 1, "B");
    await serve(store, 20, async () => void (await createMany(store, 1, "B")), SMALL);
    const small = await claim(store, SMALL, 1);
    // At the same moment as a small one, which stands elsewhere.
    await Promise.all([createMany(store, 1, "D"), createMany(store, 1, "C", LARGE)]);
    await finishAll(store, [...large, ...small]);
    const turns = await serve(store, 3, async () => undefined, LARGE);
    expect(turns).toContain("C");
    await emptyQueue(store);
  });

  test("the queue is counted by owner: what waits, not what runs or has ended", async () => {
    const store = use();
    await emptyQueue(store);
    expect(await store.countPending()).toEqual(new Map());
    await createMany(store, 3, "A");
    await createMany(store, 2, "B");
    const claims = await claim(store, PLENTY, 1);
    expect(await store.countPending()).toEqual(
      new Map([
        [findOwner(store, "A").id, 2],
        [findOwner(store, "B").id, 2],
      ]),
    );
    await finishAll(store, claims);
    await emptyQueue(store);
    expect(await store.countPending()).toEqual(new Map());
  });

  test("one that does not fit beside those before it keeps no smaller one waiting", async () => {
    const store = use();
    await emptyQueue(store);
    for (const memory of [6, 6, 1, 2, 1]) await createMany(store, 1, randomUUID(), { cpu: 1, memory });
    const claims = await claim(store, { cpu: 100, memory: 8 }, 32);
    expect(claims.map(({ resources }) => resources.memory)).toEqual([6, 1, 1]);
    await finishAll(store, claims);
    await emptyQueue(store);
  });
}

/** Owners by names, for one store: an id each. */
const ids = new WeakMap<ExecutionStore, Map<string, Owner>>();

function findOwner(store: ExecutionStore, name: string): Owner {
  const known = ids.get(store) ?? new Map<string, Owner>();
  ids.set(store, known);
  const owner = known.get(name) ?? createOwner();
  known.set(name, owner);
  return owner;
}

async function createMany(
  store: ExecutionStore,
  length: number,
  name: string,
  resources = SMALL,
): Promise<readonly NewExecution[]> {
  const owner = findOwner(store, name);
  const executions = Array.from({ length }, () => createExecution({ owner, resources }));
  await Promise.all(executions.map((execution) => store.create(execution)));
  return executions;
}

async function claim(
  store: ExecutionStore,
  free: NewExecution["resources"],
  limit: number,
): Promise<readonly Claim[]> {
  return (await store.claim(request({ free, limit }))).claims;
}

/** Runs one execution after another; `during` each (what it creates counts for the next). Says whose they were. */
async function serve(
  store: ExecutionStore,
  turns: number,
  during: (turn: number, owner: string) => Promise<void>,
  free = PLENTY,
): Promise<readonly string[]> {
  const names = new Map<string, string>();
  const served: string[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const claims = await claim(store, free, 1);
    for (const [name, { id }] of ids.get(store) ?? []) names.set(id, name);
    const name = names.get(claims[0]?.owner.id ?? "") ?? "nobody";
    served.push(name);
    await during(turn, name);
    await finishAll(store, claims);
  }
  return served;
}

function count(turns: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const turn of turns) counts[turn] = (counts[turn] ?? 0) + 1;
  return counts;
}
