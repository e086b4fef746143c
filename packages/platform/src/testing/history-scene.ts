import { createUuidAt } from "@platform/engine/testing/execution-fixtures";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createTestClient, createTestService, createTestUser } from "./fixtures.ts";
import type { TestClient, TestService, TestUser } from "./fixtures.ts";
import { createTestInstance } from "./instance.ts";
import type { TestInstance } from "./instance.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

/** An execution to be stored; what is absent is as for one that succeeded. Times in milliseconds since the epoch. */
export interface StoredExecution {
  readonly ownerId: string;
  readonly versionId: string;
  readonly at: number;
  readonly status?: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "UNKNOWN";
  readonly code?: string;
  readonly ranMs?: number;
  readonly waitedMs?: number;
}

/** Two organisations: one provides a service that both call, and each starts jobs. */
export interface HistoryScene {
  readonly home: TestDatabase;
  readonly instance: TestInstance;
  readonly store: PostgresExecutionStore;
  readonly provider: TestUser;
  readonly service: TestService;
  /** Of the provider's own application. */
  readonly own: TestClient;
  readonly subscriber: TestUser;
  readonly subscriberService: TestService;
  /** Of the subscriber's application, at the provider's service. */
  readonly foreign: TestClient;
  /** Neither of them. */
  readonly stranger: TestUser;
  /** Stores executions past the platform; returns their ids, in their order. */
  readonly insert: (executions: readonly StoredExecution[]) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** On a database of its own, whose executions are those of the API. */
export async function createHistoryScene(): Promise<HistoryScene> {
  const home = await createTestDatabase();
  const store = createPostgresExecutionStore({ database: home.database });
  const instance = await createTestInstance({ database: home.database, executionStore: store });
  const [provider, subscriber, stranger] = [
    await createTestUser(instance),
    await createTestUser(instance),
    await createTestUser(instance),
  ];
  const service = await createTestService(instance, provider, "planner");
  await instance.stores.services.publish(provider.organisationId, service.serviceKey, "marketplace");
  const own = await createTestClient(instance, provider, service);
  const foreign = await createTestClient(instance, subscriber, service);
  return {
    home,
    instance,
    store,
    provider,
    service,
    own,
    subscriber,
    subscriberService: await createTestService(instance, subscriber, "reader"),
    foreign,
    stranger,
    insert: (executions) => insert(home, executions),
    close: async () => {
      await instance.close();
      await store.close();
      await home.close();
    },
  };
}

async function insert(
  { database }: TestDatabase,
  executions: readonly StoredExecution[],
): Promise<readonly string[]> {
  const ids = executions.map(({ at }) => createUuidAt(at));
  await database.query({
    text: `insert into execution (id, owner_kind, owner_id, organisation_id, version_id, status, cpu_milli, memory_milli, timeout_seconds,
        worker_id, lease_until, created_at, started_at, ended_at, failure_code)
      select i.id, case when o.id is null then 'subscription' else 'organisation' end, i.owner, coalesce(o.id, a.organisation_id), i.version, i.status,
        1000, 1000, 60, case when i.status <> 'PENDING' then 'w' end, case i.status when 'RUNNING' then now() + interval '1 hour' end, i.at,
        case when i.status <> 'PENDING' then i.at + make_interval(secs => i.waited / 1000) end,
        case when i.status not in ('PENDING', 'RUNNING') then i.at + make_interval(secs => (i.waited + i.ran) / 1000) end, i.code
      from (
        select id, owner, version, status, code, waited, ran, to_timestamp(ms / 1000) as at
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[])
          as r (id, owner, version, status, code, waited, ran, ms)
      ) i left join organisation o on o.id = i.owner left join subscription b on b.id = i.owner left join application a on a.id = b.application_id`,
    values: [
      ids,
      executions.map(({ ownerId }) => ownerId),
      executions.map(({ versionId }) => versionId),
      executions.map(({ status = "SUCCEEDED" }) => status),
      executions.map(
        ({ status, code }) => code ?? (status === "FAILED" || status === "UNKNOWN" ? "X" : null),
      ),
      executions.map(({ waitedMs = 5 }) => waitedMs),
      executions.map(({ ranMs = 10 }) => ranMs),
      executions.map(({ at }) => at),
    ],
  });
  return ids;
}
