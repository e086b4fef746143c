import { Problem } from "@platform/contract/problems";
import type { StartAllowance } from "../store/start-buckets.ts";
import type { StartReserve, Standing } from "./start-reserve.ts";

/** Who starts. */
interface Starter {
  readonly applicationId: string;
  readonly subscriptionId: string;
  /** Of the plan; null: no limit of its own. */
  readonly startsPerMinute: number | null;
}

/** Headers of an answer, by their names in lower case. */
type LimitHeaders = Readonly<Record<string, string>>;

/** Counts a start; the answer's headers say what is left. @throws Problem RATE_LIMITED, UNAVAILABLE */
export type StartLimits = (starter: Starter) => LimitHeaders | Promise<LimitHeaders>;

/** What the limits are. */
export interface StartLimitsOptions {
  readonly reserve: StartReserve;
  /** Starts of one application in the long run. */
  readonly startsPerSecond: number;
}

/** A limit as callers know it. */
interface Limit {
  readonly name: "plan" | "application";
  /** Whose it is, in a sentence. */
  readonly whose: string;
  readonly allowance: StartAllowance;
}

/** So many seconds of an application's starts can be made at once. */
const BURST_SECONDS = 10;
const MINUTE_SECONDS = 60;

/** Limits on starts: of the plan for each subscription, then of the platform for each application. Nothing else is counted. */
export function createStartLimits({ reserve, startsPerSecond }: StartLimitsOptions): StartLimits {
  const burst = Math.max(1, Math.ceil(startsPerSecond * BURST_SECONDS));
  const listLimits = ({ applicationId, subscriptionId, startsPerMinute }: Starter): readonly Limit[] => {
    const application: Limit = {
      name: "application",
      whose: "Too many starts of this application",
      allowance: { subject: `application:${applicationId}`, burst, perSecond: startsPerSecond },
    };
    if (startsPerMinute === null) return [application];
    const allowance = {
      subject: `subscription:${subscriptionId}`,
      burst: startsPerMinute,
      perSecond: startsPerMinute / MINUTE_SECONDS,
    };
    return [
      { name: "plan", whose: `The plan has ${startsPerMinute} starts a minute`, allowance },
      application,
    ];
  };
  const takeFrom = (
    limits: readonly Limit[],
    taken: readonly Standing[],
  ): LimitHeaders | Promise<LimitHeaders> => {
    const limit = limits[taken.length];
    if (limit === undefined) return describe(limits, taken);
    const check = (standing: Standing) => {
      const standings = [...taken, standing];
      if (standing.refusedSeconds === 0) return takeFrom(limits, standings);
      for (const passed of limits.slice(0, taken.length)) reserve.giveBack(passed.allowance);
      throw createProblem(limit, standing.refusedSeconds, describe(limits, standings));
    };
    const standing = reserve.take(limit.allowance);
    return standing instanceof Promise ? standing.then(check) : check(standing);
  };
  return (starter) => takeFrom(listLimits(starter), []);
}

function createProblem({ whose }: Limit, seconds: number, headers: LimitHeaders): Problem {
  return new Problem("RATE_LIMITED", `${whose}. Try again in ${seconds} s.`, {
    headers: { ...headers, "retry-after": String(seconds) },
  });
}

/** The headers of draft-ietf-httpapi-ratelimit-headers, of the limits that were counted. */
function describe(limits: readonly Limit[], standings: readonly Standing[]): LimitHeaders {
  const policies: string[] = [];
  const states: string[] = [];
  standings.forEach(({ left, fullSeconds, refusedSeconds }, index) => {
    const limit = limits[index];
    if (limit === undefined) return;
    const { burst, perSecond } = limit.allowance;
    policies.push(`"${limit.name}";q=${burst};w=${Math.ceil(burst / perSecond)}`);
    states.push(`"${limit.name}";r=${left};t=${refusedSeconds || fullSeconds}`);
  });
  return { "ratelimit-policy": policies.join(", "), ratelimit: states.join(", ") };
}
