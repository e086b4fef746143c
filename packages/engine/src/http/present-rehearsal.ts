import { formatTimestamp } from "@platform/contract/execution";
import type { BatchRehearsal as BatchRehearsalAnswer } from "@platform/contract/batch";
import type { Rehearsal as RehearsalAnswer } from "@platform/contract/rehearsal";
import { SECOND } from "../base/time.ts";
import { describeRefused, listRefused } from "../executions/batch-view.ts";
import type { BatchRehearsal } from "../executions/rehearse-batch.ts";
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

/** The rehearsal of a batch as callers see it. */
export function toBatchRehearsalAnswer({ total, found, refusals }: BatchRehearsal): BatchRehearsalAnswer {
  const refused = listRefused(refusals);
  const items = [
    ...[...found].map(([index, rehearsal]) => ({ index, rehearsal: toRehearsalAnswer(rehearsal) })),
    ...[...refused].map(([index, refusal]) => describeRefused(index, refusal)),
  ];
  return {
    valid: refused.size === 0,
    total,
    refused: refused.size,
    items: items.sort((a, b) => a.index - b.index),
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
