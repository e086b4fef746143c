import type { ForeseenStart, StartOutlook } from "../store/start-outlook.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import type { NewExecution } from "../store/execution-store.ts";
import { findStartBy } from "../store/start-deadline.ts";
import type { InputValidator } from "../input-schema/input-validator.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import type { Admission } from "./admission.ts";
import type { Durations } from "./durations.ts";
import { findOutputPool, findPools } from "./find-pools.ts";
import { requireCounted } from "./priced.ts";
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

/** What the checks of a start are made with. */
export interface StartChecks {
  readonly webhooks: StartWebhooks | undefined;
  readonly validator: InputValidator;
  readonly allowsHigh: AllowsHigh;
  readonly retentionDays: RetentionDays;
  readonly now: () => number;
}

/** What a rehearsal works with. */
export interface RehearsalParts extends StartChecks, Pinners {
  readonly store: Pick<ExecutionStore, "foresee">;
  readonly admission: Pick<Admission, "check">;
  readonly waiting: Pick<WaitingTeller, "foresee">;
}

/** A start whose body was accepted. */
export interface AcceptedStart extends ForeseenStart, Pick<NewExecution, "startWithinSeconds"> {
  /** It is for later. */
  readonly isDelayed: boolean;
}

/** Makes all checks of a start, in its order, so that it is refused for the same reason. */
export function createRehearsal(parts: RehearsalParts) {
  const { store } = parts;
  return async (owner: Owner, target: VersionTarget, bytes: Uint8Array): Promise<Rehearsal> => {
    const start = await acceptStart(parts, { owner, target, bytes }, parts);
    return await foreseeStart(parts, { target, start, outlook: await store.foresee(start), before: 0 });
  };
}

/** The checks of a start that need no place for it. @throws Problem */
export async function acceptStart(
  {
    webhooks,
    validator,
    admission,
    allowsHigh,
    retentionDays,
    now,
  }: StartChecks & Pick<RehearsalParts, "admission">,
  {
    owner,
    target,
    bytes,
  }: { readonly owner: Owner; readonly target: VersionTarget; readonly bytes: Uint8Array },
  pinners: Pinners,
): Promise<AcceptedStart> {
  requireCounted(target, false);
  const body = acceptStartBody(bytes);
  requireNear(body.startAt, { now: now(), keptDays: retentionDays.result });
  requireWebhooks(body, webhooks);
  validator(target.id, target.inputSchema, body);
  const isDelayed = isLater(body.startAt, now());
  await admission.check({ ownerId: owner.id, isDelayed });
  const pools = findPools(target.inputSchema, body);
  const output = findOutputPool(target.inputSchema, body);
  await pinNamed(pinners, { body, pools, output }, owner);
  const { id: versionId, resources } = target;
  return { owner, versionId, resources, ...applyPolicy(target, allowsHigh), ...chooseTimes(body), isDelayed };
}

/** What a start would do, after so many others of its owner that are to begin at once as well. */
export async function foreseeStart(
  { waiting, now }: Pick<RehearsalParts, "waiting" | "now">,
  {
    target,
    start,
    outlook: { quota, price, ...outlook },
    before,
  }: {
    readonly target: VersionTarget;
    readonly start: AcceptedStart;
    readonly outlook: StartOutlook;
    readonly before: number;
  },
): Promise<Rehearsal> {
  return {
    target: { ...target, timeoutSeconds: start.timeoutSeconds },
    ...(await waiting.foresee(start, outlook, before)),
    startBy: findStartBy(start, now()),
    ...(quota === undefined ? {} : { quota }),
    ...(price === undefined ? {} : { price }),
  };
}
