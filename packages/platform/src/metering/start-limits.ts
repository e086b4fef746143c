import {
  allowPerSecond,
  giveBackToAll,
  rehearseLimits,
  rehearseUpTo,
  takeFromAll,
  takeUpTo,
} from "./limits.ts";
import type { Granted, Limit, LimitHeaders } from "./limits.ts";
import type { RateReserve } from "./rate-reserve.ts";

/** Who starts. */
export interface Starter {
  readonly applicationId: string;
  readonly serviceKey: string;
  /** Of the plan; null: no limit of its own. */
  readonly startsPerMinute: number | null;
}

/** Counts starts. */
export interface StartLimits {
  /** The answer's headers say what is left. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly count: (starter: Starter) => LimitHeaders | Promise<LimitHeaders>;
  /** Counts a rehearsal, and no start. The answer's headers say what is left of starts. @throws Problem that a start would get */
  readonly rehearse: (starter: Starter) => Promise<LimitHeaders>;
  /** Counts so many further rehearsals of a request that was counted as one, and no start; so many starts would be granted. @throws Problem UNAVAILABLE */
  readonly rehearseMore: (starter: Starter, count: number) => Promise<Granted>;
  /** So many further starts of a request that was counted as one; fewer may be granted. @throws Problem UNAVAILABLE */
  readonly countMore: (starter: Starter, count: number) => Promise<Granted>;
  /** What was counted turned out to be no start. */
  readonly giveBack: (starter: Starter) => void;
}

/** What the limits are. */
export interface StartLimitsOptions {
  readonly reserve: RateReserve;
  /** Starts of one application in the long run. */
  readonly startsPerSecond: number;
}

const MINUTE_SECONDS = 60;

/** Limits on starts: of the plan for each subscription, then of the platform for each application. Nothing else is counted. */
export function createStartLimits({ reserve, startsPerSecond }: StartLimitsOptions): StartLimits {
  const listLimits = ({ applicationId, serviceKey, startsPerMinute }: Starter): readonly Limit[] => {
    const application: Limit = {
      name: "application",
      refusal: "Too many starts of this application",
      allowance: allowPerSecond(`application:${applicationId}`, startsPerSecond),
    };
    if (startsPerMinute === null) return [application];
    const allowance = {
      // Not by its id: who subscribes anew would have all starts of the minute again.
      subject: `subscription:${applicationId}/${serviceKey}`,
      burst: startsPerMinute,
      perSecond: startsPerMinute / MINUTE_SECONDS,
    };
    return [
      {
        name: "plan",
        refusal: `The plan has ${startsPerMinute} ${startsPerMinute === 1 ? "start" : "starts"} a minute`,
        allowance,
      },
      application,
    ];
  };
  return {
    count: (starter) => takeFromAll(reserve, listLimits(starter)),
    rehearse: (starter) => rehearseLimits(reserve, listLimits(starter)),
    rehearseMore: (starter, count) => rehearseUpTo(reserve, listLimits(starter), count),
    countMore: (starter, count) => takeUpTo(reserve, listLimits(starter), count),
    giveBack: (starter) => giveBackToAll(reserve, listLimits(starter)),
  };
}
