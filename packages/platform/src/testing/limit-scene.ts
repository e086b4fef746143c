import { randomUUID } from "node:crypto";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createLimitedQueue } from "@platform/engine/testing/limited-queue";
import type { LimitedQueue, LimitsUnderTest } from "@platform/engine/testing/limited-queue";
import type { Database } from "../postgres/database.ts";
import { createUserStore } from "../store/accounts/users.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createStores } from "../store/stores.ts";
import type { Stores } from "../store/stores.ts";
import { createTestStore } from "./test-store.ts";
import type { TestStore } from "./test-store.ts";

/** A store of executions, and services with limits. Counts all executions of a service, whoever has started them. */
export interface LimitScene extends TestStore, LimitedQueue {
  readonly store: PostgresExecutionStore;
  readonly policies: Stores["policies"];
}

/** Services of an organisation of their own. */
export async function createLimitedServices(
  database: Database,
): Promise<LimitsUnderTest & Pick<Stores, "policies">> {
  const { services, policies } = createStores(database);
  const [userId, organisationId] = [randomUUID(), randomUUID()];
  await createUserStore(database).create({
    id: userId,
    email: `${userId}@example.org`,
    name: "Ada",
    passwordHash: null,
    isOperator: false,
    organisation: { id: organisationId, slug: "ada" },
  });
  const setLimits: LimitsUnderTest["setLimits"] = async (key, concurrency) => {
    const found = await policies.find(organisationId, key);
    const policy = concurrency === null ? {} : { concurrency };
    await policies.put(organisationId, key, { replaces: found?.revision ?? 0, policy, by: userId });
  };
  return {
    policies,
    setLimits,
    createService: async (limits) => {
      const { key } = await services.create({ organisationId, name: `s-${createUuidV7()}`, description: "" });
      await setLimits(key, limits);
      return key;
    },
  };
}

/** On a database of its own. */
export async function createLimitScene(): Promise<LimitScene> {
  const scene = await createTestStore();
  const services = await createLimitedServices(scene.home.database);
  return {
    ...createLimitedQueue(scene.store, services),
    ...scene,
    policies: services.policies,
    count: async (limitKey) => {
      const [row] = await scene.database.query<Awaited<ReturnType<LimitedQueue["count"]>>>({
        text: `select count(*) filter (where status = 'RUNNING')::int as running,
            count(*) filter (where status = 'RUNNING' or status = 'PENDING' and held is null)::int as places,
            count(*) filter (where status = 'PENDING' and held is not null)::int as held
          from execution where limit_key = $1`,
        values: [limitKey],
      });
      if (row === undefined) throw new Error("A query of counts returned no row.");
      return row;
    },
  };
}
