import { formatTimestamp } from "@platform/contract/execution";
import type { Rehearsal as RehearsalAnswer } from "@platform/contract/rehearsal";
import { SECOND } from "../base/time.ts";
import type { Rehearsal } from "../executions/rehearse.ts";
import type { ExecutionQuota } from "../store/quota.ts";

/** Of a version that has no number: the project of the local server. */
const LOCAL = "local";

/** A rehearsal as callers see it. */
export function toRehearsalAnswer({
  target,
  waiting,
  durations,
  startBy,
  ...found
}: Rehearsal): RehearsalAnswer {
  const { version = LOCAL, resources, timeoutSeconds } = target;
  const cost = describeCost(found);
  return {
    valid: true,
    version,
    waiting,
    ...(cost === undefined ? {} : { cost }),
    ...(durations === null
      ? {}
      : { runs: { typicalSeconds: durations.typical / SECOND, longSeconds: durations.long / SECOND } }),
    resources: { cpu: resources.cpu, memory: resources.memory },
    timeoutSeconds,
    ...(startBy === null ? {} : { startBy: formatTimestamp(startBy) }),
  };
}

/** Without a plan there is no cap either. */
function describeCost({ price, quota }: Pick<Rehearsal, "price" | "quota">): RehearsalAnswer["cost"] {
  if (price === undefined) return undefined;
  const { typical, long, ...known } = price;
  return {
    ...known,
    ...(typical === null ? {} : { typical }),
    ...(long === null ? {} : { long }),
    ...(quota === undefined ? {} : { quota: describeQuota(quota) }),
  };
}

function describeQuota({ unit, cap, left, renewsAt }: ExecutionQuota) {
  return { unit, perMonth: cap, left, renewsAt: formatTimestamp(renewsAt) };
}
