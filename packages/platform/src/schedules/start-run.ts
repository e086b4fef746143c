import { Problem } from "@platform/contract/problems";
import type { Executions } from "@platform/engine/executions/executions";
import { requireCounted } from "@platform/engine/executions/priced";
import type { Owner } from "@platform/engine/store/owner";
import { toJobOwner } from "@platform/engine/store/owner";
import type { VersionTarget } from "@platform/engine/versions/runnable-version";
import { toTarget } from "../access/grants.ts";
import { createStartLimits } from "../metering/start-limits.ts";
import type { RateReserve } from "../metering/rate-reserve.ts";
import { createWriteLimits } from "../metering/write-limits.ts";
import type { RunClaim } from "../store/schedules/runs.ts";
import type { StoredTarget } from "../store/schedules/schedules.ts";
import type { SubscriptionStore } from "../store/subscriptions.ts";
import type { VersionStore } from "../store/versions/versions.ts";

/** What runs are started with. */
export interface StarterDeps {
  readonly executions: Pick<Executions, "start" | "state">;
  readonly versions: Pick<VersionStore, "find" | "findLatest">;
  readonly subscriptions: Pick<SubscriptionStore, "findStartable">;
  readonly reserve: RateReserve;
  /** Starts of one application or organisation in the long run. */
  readonly startsPerSecond: number;
}

/** Starts what schedules name, by the way that every start goes. */
export interface RunStarter {
  /** The version that would be started now. @throws Problem as a start */
  readonly findTarget: (organisationId: string, target: StoredTarget) => Promise<VersionTarget>;
  /** Makes the execution of this run; repeated, it makes none. @throws Problem as a start */
  readonly start: (claim: RunClaim) => Promise<void>;
  /** Whether an earlier try has made it. */
  readonly isStarted: (claim: RunClaim) => Promise<boolean>;
}

/** What a start counts for, and what it starts. */
interface Prepared {
  readonly owner: Owner;
  readonly version: VersionTarget;
  /** @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly count: () => unknown;
}

const MAJOR = /^[0-9]{1,9}$/u;

/** `deps`: as the platform API and the gateway have them. */
export function createRunStarter(deps: StarterDeps): RunStarter {
  const { executions } = deps;
  return {
    findTarget: async (organisationId, target) => {
      const { serviceKey, version: wanted } = target;
      const version =
        serviceKey === null
          ? (await findSubscription(deps, organisationId, target)).version
          : await findVersion(deps, { organisationId, serviceKey }, wanted);
      // Each of its starts would be refused so.
      requireCounted(version, false);
      return version;
    },
    start: async (claim) => {
      const { owner, version, count } = await prepare(deps, claim);
      await count();
      await executions.start(owner, version, { body: Buffer.from(claim.body), id: claim.executionId });
    },
    isStarted: async ({ executionId, subscriptionId, organisationId }) => {
      try {
        await executions.state(executionId, subscriptionId ?? organisationId);
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (error.code === "EXECUTION_NOT_FOUND") return false;
        if (error.code === "RESULT_EXPIRED") return true;
        throw error;
      }
    },
  };
}

async function prepare(deps: StarterDeps, claim: RunClaim): Promise<Prepared> {
  const { organisationId, serviceKey, userId, mayEdit } = claim;
  const { reserve, startsPerSecond } = deps;
  if (serviceKey === null) {
    const { found, version, owner } = await findSubscription(deps, organisationId, claim);
    const limits = createStartLimits({ reserve, startsPerSecond });
    return { owner, version, count: () => limits.count(found) };
  }
  const version = await findVersion(deps, { organisationId, serviceKey }, claim.version);
  const limits = createWriteLimits({ reserve, startsPerSecond, writesPerSecond: startsPerSecond });
  return {
    // Their role of then is asked for where results are stored (store/pools/result-files.ts).
    owner: toJobOwner(organisationId, { userId, mayEdit }),
    version,
    count: () => limits.count({ userId, organisationId }, "start"),
  };
}

/** @throws Problem SERVICE_NOT_FOUND, VERSION_RETIRED */
async function findVersion(
  { versions }: StarterDeps,
  { organisationId, serviceKey }: { readonly organisationId: string; readonly serviceKey: string },
  wanted: string | null,
): Promise<VersionTarget> {
  const isPinned = wanted !== null && !MAJOR.test(wanted);
  const major = wanted === null ? undefined : Number(wanted);
  const version = isPinned
    ? await versions.find(organisationId, serviceKey, wanted)
    : await versions.findLatest(organisationId, serviceKey, major);
  if (version === null) throw new Problem("SERVICE_NOT_FOUND");
  if (version.retiredAt !== null)
    throw new Problem("VERSION_RETIRED", `Version ${version.version} takes no new executions.`);
  return version;
}

/** @throws Problem NOT_FOUND, SERVICE_NOT_FOUND, NOT_SUBSCRIBED, SUBSCRIPTION_ENDED, VERSION_RETIRED */
async function findSubscription(
  { subscriptions }: StarterDeps,
  organisationId: string,
  { subscriptionId }: StoredTarget,
) {
  const id = subscriptionId ?? "";
  const found = await subscriptions.findStartable({ organisationId, id }, undefined);
  if (found === null)
    throw new Problem("NOT_FOUND", "The subscription has ended, or there is no such subscription.");
  if (found.version === null) throw new Problem("SERVICE_NOT_FOUND");
  const owner: Owner = { kind: "subscription", id, organisationId };
  const version = toTarget({ ...found, owner, areLogsShown: false, version: found.version });
  return { found, owner, version };
}
