import type { StartOutlook } from "../store/start-outlook.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import { findStartBy } from "../store/start-deadline.ts";
import type { InputValidator } from "../input-schema/input-validator.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import type { Admission } from "./admission.ts";
import type { Durations } from "./durations.ts";
import { findOutputPool, findPools } from "./find-pools.ts";
import { pinNamed } from "./pin-inputs.ts";
import type { Pinners } from "./pin-inputs.ts";
import { acceptStartBody } from "./start-body.ts";
import type { RetentionDays } from "./retention.ts";
import { chooseTimes, isLater, requireNear } from "./start-times.ts";
import { requireWebhooks } from "./start-webhooks.ts";
import type { StartWebhooks } from "./start-webhooks.ts";
import { applyPolicy } from "./start-policy.ts";
import type { AllowsHigh } from "./start-policy.ts";
import type { WaitingTeller } from "./waiting.ts";
import type { Waiting } from "@platform/contract/execution";

/** What a start would do. */
export interface Rehearsal extends Pick<StartOutlook, "quota" | "price"> {
  readonly target: VersionTarget;
  readonly waiting: Waiting;
  /** How long such runs take; null: it is not known. */
  readonly durations: Durations | null;
  /** When it must have begun if it is started now, in milliseconds since the epoch; null: whenever it can. */
  readonly startBy: number | null;
}

interface RehearsalParts extends Pinners {
  readonly store: Pick<ExecutionStore, "foresee">;
  readonly webhooks: StartWebhooks | undefined;
  readonly validator: InputValidator;
  readonly admission: Pick<Admission, "check">;
  readonly waiting: Pick<WaitingTeller, "foresee">;
  readonly allowsHigh: AllowsHigh;
  readonly retentionDays: RetentionDays;
  readonly now: () => number;
}

/** Makes all checks of a start, in its order, so that it is refused for the same reason. */
export function createRehearsal({
  store,
  webhooks,
  validator,
  admission,
  waiting,
  allowsHigh,
  retentionDays,
  now,
  ...pinners
}: RehearsalParts) {
  return async (owner: Owner, target: VersionTarget, bytes: Uint8Array): Promise<Rehearsal> => {
    const body = acceptStartBody(bytes);
    requireNear(body.startAt, { now: now(), keptDays: retentionDays.result });
    requireWebhooks(body, webhooks);
    validator(target.id, target.inputSchema, body);
    await admission.check({ ownerId: owner.id, isDelayed: isLater(body.startAt, now()) });
    const pools = findPools(target.inputSchema, body);
    const output = findOutputPool(target.inputSchema, body);
    await pinNamed(pinners, { body, pools, output }, owner);
    const { id: versionId, resources } = target;
    const start = {
      owner,
      versionId,
      resources,
      ...applyPolicy(target, allowsHigh),
      ...chooseTimes(body),
    };
    const { quota, price, ...outlook } = await store.foresee(start);
    return {
      target: { ...target, timeoutSeconds: start.timeoutSeconds },
      ...(await waiting.foresee(start, outlook)),
      startBy: findStartBy(start, now()),
      ...(quota === undefined ? {} : { quota }),
      ...(price === undefined ? {} : { price }),
    };
  };
}
