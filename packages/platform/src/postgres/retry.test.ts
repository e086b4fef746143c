import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "./database.ts";
import { FateUnknown, retryTransient } from "./retry.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase({ isEmpty: true });
  database = home.connect({ retryMilliseconds: 20_000 });
  await database.query({ text: "create table tried (code text not null)" });
  await database.query({ text: "create sequence tries" });
});

afterAll(() => home.close());

/** Fails with this SQLSTATE at the first try and writes a row at the second; a sequence is not rolled back. */
async function failOnce(code: string): Promise<void> {
  await database.query({ text: "select setval('tries', 1, false)" });
  await database.query({
    text: `do $$ begin
      insert into tried values ('${code}');
      if nextval('tries') = 1 then raise exception 'once' using errcode = '${code}'; end if;
    end $$`,
  });
}

async function countTried(code: string): Promise<number> {
  const rows = await database.query({ text: "select 1 from tried where code = $1", values: [code] });
  return rows.length;
}

describe("a statement that fails", () => {
  test.each([
    ["the disk is full", "53100"],
    ["memory is short", "53200"],
    ["a configured limit is reached", "53400"],
    ["there are too many connections", "53300"],
    ["the server takes no writes after a failover", "25006"],
    ["it was cancelled by its own time limit", "57014"],
    ["a lock was not to be had in time", "55P03"],
    ["the disk does not answer", "58030"],
    ["it met another in a deadlock", "40P01"],
  ])("since %s is tried again, and done once", async (_why, code) => {
    await failOnce(code);
    expect(await countTried(code)).toBe(1);
  });

  test.each([
    ["a value does not fit", "22001"],
    ["a constraint is violated", "23505"],
    ["a right is missing", "42501"],
  ])("since %s fails at once", async (_why, code) => {
    await expect(failOnce(code)).rejects.toMatchObject({ code });
    expect(await countTried(code)).toBe(0);
  });

  test("since the server was set read-only succeeds when it takes writes again, on the same pool", async () => {
    const name = home.target.database ?? "";
    await home.database.query({ text: `alter database ${name} set default_transaction_read_only = on` });
    const writer = home.connect({ retryMilliseconds: 20_000, maxConnections: 1 });
    await writer.query({ text: "select 1" });
    const writing = writer.query({ text: "insert into tried values ('read-only')" });
    const refused = () =>
      home.database
        .query<{ refused: number }>({
          text: "select xact_rollback::int as refused from pg_stat_database where datname = current_database()",
        })
        .then(([row]) => row?.refused ?? 0);
    const before = await refused();
    await expect.poll(refused, { interval: 50 }).toBeGreaterThan(before);
    await home.database.query({
      text: `set default_transaction_read_only = off; alter database ${name} reset default_transaction_read_only`,
    });
    await writing;
    expect(await countTried("read-only")).toBe(1);
  });
});

test("what may have happened in one try is not called undone, though all tries after it surely did nothing", async () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  let tries = 0;
  const trying = retryTransient({ retryMilliseconds: 50, idempotent: true }, async (markSent) => {
    if (tries++ > 0) throw refused;
    markSent();
    throw new Error("Connection terminated unexpectedly");
  });
  await expect(trying).rejects.toBeInstanceOf(FateUnknown);
  expect(tries).toBeGreaterThan(1);
  const neverSent = retryTransient({ retryMilliseconds: 50, idempotent: true }, () =>
    Promise.reject(refused),
  );
  await expect(neverSent).rejects.not.toBeInstanceOf(FateUnknown);
});
