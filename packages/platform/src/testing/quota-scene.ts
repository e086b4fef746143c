import { createExecution, createOwner } from "@platform/engine/testing/execution-fixtures";
import type { Claim, ExecutionRecord } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createTestStore } from "./test-store.ts";
import type { TestStore } from "./test-store.ts";

/** Limits of a subscription; what is absent has none. */
interface TestLimits {
  readonly cap?: number;
  readonly cpuSeconds?: number;
  readonly concurrent?: number;
}

/** What counts for a subscription. */
interface Counted {
  readonly used: number;
  readonly cpuSeconds: number;
  readonly unended: number;
}

/** A store of executions, and subscriptions with limits. */
export interface QuotaScene extends TestStore {
  readonly createLimited: (limits: TestLimits) => Promise<Owner>;
  /** Undefined: the owner has no row. */
  readonly readCounted: (owner: Owner) => Promise<Counted | undefined>;
  readonly start: (owner: Owner, store?: PostgresExecutionStore) => Promise<ExecutionRecord>;
  /** How many of so many starts at once were let through. */
  readonly countStarted: (owner: Owner, tries: number, store?: PostgresExecutionStore) => Promise<number>;
  /** Claims this execution alone. */
  readonly claim: (id: string, leaseSeconds?: number) => Promise<Claim>;
  /** Makes the month that the owner's executions were counted in the one before. */
  readonly endMonth: (owner: Owner) => Promise<void>;
}

/** On a database of its own. */
export async function createQuotaScene(): Promise<QuotaScene> {
  const scene = await createTestStore();
  const run = scene.home.database.query;
  const start: QuotaScene["start"] = (owner, store = scene.store) => store.create(createExecution({ owner }));
  return {
    ...scene,
    start,
    createLimited: async ({ cap = null, cpuSeconds = null, concurrent = null }: Nullable<TestLimits>) => {
      const owner = createOwner();
      await run({
        text: `insert into quota (subscription_id, cap, cpu_cap, concurrent, month, used)
          values ($1, $2, $3::bigint * 1000000, $4, date_trunc('month', now() at time zone 'UTC'), 0)`,
        values: [owner.id, cap, cpuSeconds, concurrent],
      });
      return owner;
    },
    readCounted: async ({ id }) => {
      const [row] = await run<Counted>({
        text: `select used::int, (cpu_used / 1e6)::float8 as "cpuSeconds", unended from quota where subscription_id = $1`,
        values: [id],
      });
      return row;
    },
    countStarted: async (owner, tries, store) => {
      const results = await Promise.allSettled(Array.from({ length: tries }, () => start(owner, store)));
      return results.filter(({ status }) => status === "fulfilled").length;
    },
    claim: async (id, leaseSeconds = 60) => {
      const { claims } = await scene.store.claim({
        workerId: "worker",
        sandboxLevel: "B",
        limit: 1,
        free: { cpu: 10, memory: 10 },
        leaseSeconds,
        excludedVersionIds: [],
        onlyId: id,
      });
      const [first] = claims;
      if (first === undefined) throw new Error("The execution cannot be claimed.");
      return first;
    },
    endMonth: async ({ id }) => {
      for (const text of [
        "update quota set month = month - interval '1 month' where subscription_id = $1",
        "update execution set quota_month = quota_month - interval '1 month' where owner_id = $1",
      ])
        await run({ text, values: [id] });
    },
  };
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };
