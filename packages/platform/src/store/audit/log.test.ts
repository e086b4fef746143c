import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { SCANNED, createAuditLog } from "./log.ts";
import type { AuditLog } from "./log.ts";
import type { NewAuditEntry } from "./trail.ts";

let server: TestDatabase;
let log: AuditLog;

beforeAll(async () => {
  server = await createTestDatabase();
  log = createAuditLog(server.database);
});
afterAll(() => server?.close());

function createEntry(organisationId: string, more: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return {
    organisationId,
    actorKind: "user",
    actorId: randomUUID(),
    credential: "token:1",
    action: "thing.update",
    target: ["a", "b"],
    outcome: "done",
    code: null,
    ip: "192.0.2.1",
    changes: [],
    ...more,
  };
}

/** A log of five entries; returns its organisation. */
async function createLog(): Promise<string> {
  const organisationId = randomUUID();
  for (let number = 1; number <= 5; number++) await log.append(createEntry(organisationId));
  return organisationId;
}

/** As somebody with all rights on the database would, who switches the guards off. */
async function tamper(text: string, ...values: readonly string[]): Promise<void> {
  const client = await server.database.pool.connect();
  try {
    await client.query("set session_replication_role = replica");
    await client.query(text, [...values]);
  } finally {
    client.release(true);
  }
}

test("a log is whole as it was written, whatever the texts contain, also when its entries came at once", async () => {
  const organisationId = randomUUID();
  const texts = ["", "-", "3:abc,", "\\ \" ' \n\t\u2028", "Zoë 💩", "a".repeat(5_000)];
  const entries = texts.flatMap((text) => [
    createEntry(organisationId, { action: text, ip: text, target: [text] }),
    createEntry(organisationId, {
      actorId: null,
      credential: null,
      target: [],
      outcome: "refused",
      code: text,
    }),
    createEntry(organisationId, { changes: [{ field: text, before: null, after: text }] }),
  ]);
  await Promise.all(entries.map((entry) => log.append(entry)));
  expect(await log.verify(organisationId, undefined)).toEqual({
    checked: entries.length,
    firstBroken: null,
    nextCursor: null,
  });
  const { items } = await log.list(organisationId, { limit: 100 });
  expect(items.map(({ sequence }) => sequence)).toEqual(
    entries.map((_, index) => String(entries.length - index)),
  );
  const times = items.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test("a log of more than one part is compared part by part", async () => {
  const organisationId = randomUUID();
  await server.database.query({
    text: `select append_audit_entry($1, 'user', null, null, 'thing.update', null, 'done', null, '', '[]')
      from generate_series(1, 1001)`,
    values: [organisationId],
  });
  const first = await log.verify(organisationId, undefined);
  expect(first).toMatchObject({ checked: 1_000, firstBroken: null, nextCursor: expect.any(String) });
  expect(await log.verify(organisationId, first.nextCursor ?? "")).toEqual({
    checked: 1,
    firstBroken: null,
    nextCursor: null,
  });
});

test("a page of a filtered list looks at a bounded part of the log, and the next ones at the rest", async () => {
  const organisationId = randomUUID();
  await log.append(createEntry(organisationId, { action: "rare.create" }));
  await tamper(
    `insert into audit_entry (organisation_id, sequence, at, actor_kind, actor_name, action, outcome, ip, changes, hash)
      select $1, 1 + i, now(), 'user', '', 'thing.update', 'done', '', '[]', '' from generate_series(1, $2::int) i`,
    organisationId,
    String(SCANNED),
  );
  await tamper(
    "update audit_chain set sequence = 1 + $2::int where organisation_id = $1",
    organisationId,
    String(SCANNED),
  );
  const filter = { action: "rare.create", limit: 10 };
  const first = await log.list(organisationId, filter);
  expect(first).toEqual({ items: [], nextCursor: expect.any(String) });
  const second = await log.list(organisationId, { ...filter, cursor: first.nextCursor ?? "" });
  expect([second.items.map(({ sequence }) => sequence), second.nextCursor]).toEqual([["1"], null]);
});

test.each([
  [
    "a changed actor",
    "update audit_entry set actor_id = null where organisation_id = $1 and sequence = 3",
    "3",
  ],
  [
    "a changed time",
    "update audit_entry set at = at + interval '1 ms' where organisation_id = $1 and sequence = 2",
    "2",
  ],
  ["a missing entry", "delete from audit_entry where organisation_id = $1 and sequence = 4", "4"],
  ["a missing first entry", "delete from audit_entry where organisation_id = $1 and sequence = 1", "1"],
  ["a missing end", "delete from audit_entry where organisation_id = $1 and sequence > 3", "4"],
  ["no entry left", "delete from audit_entry where organisation_id = $1", "1"],
  [
    "an entry that was changed with its own hash, but not those after it",
    `update audit_entry e set ip = 'x', hash = hash_audit_entry(f.hash,
        (e.organisation_id, e.sequence, e.at, e.actor_kind, e.actor_id, e.actor_name, e.credential, e.action, e.target,
          e.outcome, e.code, 'x', e.changes, e.hash)::audit_entry)
      from audit_entry f where e.organisation_id = $1 and f.organisation_id = $1 and e.sequence = 3 and f.sequence = 2`,
    "4",
  ],
  [
    "a last entry that was changed with its own hash",
    `update audit_entry e set ip = 'x', hash = hash_audit_entry(f.hash,
        (e.organisation_id, e.sequence, e.at, e.actor_kind, e.actor_id, e.actor_name, e.credential, e.action, e.target,
          e.outcome, e.code, 'x', e.changes, e.hash)::audit_entry)
      from audit_entry f where e.organisation_id = $1 and f.organisation_id = $1 and e.sequence = 5 and f.sequence = 4`,
    "5",
  ],
])("%s is found", async (_what, text, firstBroken) => {
  const organisationId = await createLog();
  const other = await createLog();
  await tamper(text, organisationId);
  expect(await log.verify(organisationId, undefined)).toMatchObject({ firstBroken, nextCursor: null });
  expect(await log.verify(other, undefined)).toMatchObject({ checked: 5, firstBroken: null });
});

test.each([
  "update audit_entry set ip = 'x'",
  "delete from audit_entry",
  "truncate audit_entry",
  "delete from audit_chain",
  "truncate audit_chain",
  "update audit_chain set sequence = 1",
  "update audit_chain set hash = ''",
])("the owner of the tables cannot do this either: %s", async (text) => {
  await createLog();
  await expect(server.database.query({ text })).rejects.toThrow("The audit log is only ever added to.");
});

test("a role of its own adds entries with the rights that the guide names, and could not change one without the guards", async () => {
  const organisationId = await createLog();
  const role = `audit_${randomUUID().slice(0, 8)}`;
  const client = await server.database.pool.connect();
  try {
    await client.query(`create role ${role}`);
    await client.query(`grant select, insert on audit_entry to ${role}`);
    await client.query(`grant select, insert, update on audit_chain to ${role}`);
    await client.query(`grant select on application, organisation, platform_user to ${role}`);
    await client.query("alter table audit_entry disable trigger user");
    await client.query(`set role ${role}`);
    const values = [organisationId];
    await client.query(
      "select append_audit_entry($1, 'user', null, null, 'a.b', null, 'done', null, '', '[]')",
      values,
    );
    for (const text of ["update audit_entry set ip = 'x'", "delete from audit_entry", "truncate audit_entry"])
      await expect(client.query(text)).rejects.toThrow("permission denied");
    await client.query("reset role");
    await client.query("alter table audit_entry enable trigger user");
    await client.query(`drop owned by ${role}`);
    await client.query(`drop role ${role}`);
  } finally {
    client.release(true);
  }
  expect(await log.verify(organisationId, undefined)).toMatchObject({ checked: 6, firstBroken: null });
});
