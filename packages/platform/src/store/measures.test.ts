import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createMeasures } from "./measures.ts";

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});

afterAll(() => home.close());

const [ORGANISATION, SERVICE, VERSION] = [randomUUID(), randomUUID(), randomUUID()];

async function insert(text: string, ...values: readonly unknown[]): Promise<void> {
  await home.database.query({ text, values });
}

async function insertBuild(status: string, createdAt: string, minor: number): Promise<void> {
  await insert(
    `insert into build (id, service_key, major, minor, patch, archive_hash, content_hash, requested_by, status, created_at, ended_at)
     values ($1, $2, 1, $4, 0, 'hash', 'hash', 'somebody', $3::text, $5, case when $3 = 'SUCCEEDED' then now() end)`,
    randomUUID(),
    SERVICE,
    status,
    minor,
    createdAt,
  );
}

test("builds that have not ended are counted, and versions have the names that people know", async () => {
  await insert("insert into organisation (id, name, slug) values ($1, 'Acme', 'acme')", ORGANISATION);
  await insert(
    "insert into service (key, organisation_id, name) values ($1, $2, 'solver')",
    SERVICE,
    ORGANISATION,
  );
  await insert(
    `insert into version (id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_milli, timeout_seconds, start_mode)
     values ($1, $2, 1, 2, 3, 'hash', 'hash', 1000, 1000, 60, 'auto')`,
    VERSION,
    SERVICE,
  );
  await insertBuild("SUCCEEDED", "2025-01-01Z", 1);
  await insertBuild("PENDING", "2026-01-01Z", 2);
  await insertBuild("PENDING", "2026-01-02Z", 3);
  const measures = createMeasures(home.database);
  expect(await measures.builds()).toEqual([{ status: "PENDING", count: 2, oldestAt: Date.UTC(2026, 0, 1) }]);
  expect(await measures.nameVersions([VERSION, randomUUID()])).toEqual(
    new Map([[VERSION, { organization: "acme", service: "solver", version: "1.2.3" }]]),
  );
});
