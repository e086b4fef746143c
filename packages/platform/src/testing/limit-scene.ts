import { randomUUID } from "node:crypto";
import type { ServicePolicy } from "@platform/contract/policy";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createExecution, request } from "@platform/engine/testing/execution-fixtures";
import type { Claim, NewExecution } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { createUserStore } from "../store/accounts/users.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createStores } from "../store/stores.ts";
import type { Stores } from "../store/stores.ts";
import { createTestStore } from "./test-store.ts";
import type { TestStore } from "./test-store.ts";

type Concurrency = NonNullable<ServicePolicy["concurrency"]>;

/** Executions of a service that run, have a place, and are held. */
interface LimitCounts {
  readonly running: number;
  readonly places: number;
  readonly held: number;
}

/** A store of executions, and services with limits. */
export interface LimitScene extends TestStore {
  readonly policies: Stores["policies"];
  /** Key of a new service with these limits; null: with no policy. */
  readonly createService: (limits: Concurrency | null) => Promise<string>;
  /** Null: takes the limits back. */
  readonly setLimits: (serviceKey: string, limits: Concurrency | null) => Promise<void>;
  readonly start: (limitKey: string, owner: Owner, more?: Partial<NewExecution>) => Promise<NewExecution>;
  /** Rounds until one releases nothing; how many were released. */
  readonly release: (store?: PostgresExecutionStore) => Promise<number>;
  /** What a worker that has room for `limit` of them claims. */
  readonly claim: (limit?: number) => Promise<readonly Claim[]>;
  readonly count: (limitKey: string) => Promise<LimitCounts>;
}

/** On a database of its own. */
export async function createLimitScene(): Promise<LimitScene> {
  const scene = await createTestStore();
  const { services, policies } = createStores(scene.home.database);
  const [userId, organisationId] = [randomUUID(), randomUUID()];
  await createUserStore(scene.home.database).create({
    id: userId,
    email: `${userId}@example.org`,
    name: "Ada",
    passwordHash: null,
    isOperator: false,
    organisation: { id: organisationId, slug: "ada" },
  });
  const setLimits: LimitScene["setLimits"] = async (key, concurrency) => {
    const found = await policies.find(organisationId, key);
    const policy = concurrency === null ? {} : { concurrency };
    await policies.put(organisationId, key, { replaces: found?.revision ?? 0, policy, by: userId });
  };
  return {
    ...scene,
    policies,
    setLimits,
    createService: async (limits) => {
      const { key } = await services.create({ organisationId, name: `s-${createUuidV7()}`, description: "" });
      await setLimits(key, limits);
      return key;
    },
    start: async (limitKey, owner, more = {}) => {
      const execution = createExecution({ owner, limitKey, ...more });
      await scene.store.create(execution);
      return execution;
    },
    release: async (store = scene.store) => {
      let sum = 0;
      for (;;) {
        const { released } = await store.releaseDue();
        sum += released;
        if (released === 0) return sum;
      }
    },
    claim: async (limit = 1_000) => (await scene.store.claim(request({ limit }))).claims,
    count: async (limitKey) => {
      const [row] = await scene.database.query<LimitCounts>({
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
