import type { RateClass } from "@platform/contract/operation";
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

/** Who calls the platform API. */
interface Writer {
  readonly userId: string;
  readonly organisationId: string;
}

/** Counts requests. */
export interface WriteLimits {
  /** Null: requests of this class are not counted. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly count: (writer: Writer, rate: RateClass) => LimitHeaders | Promise<LimitHeaders> | null;
  /** Counts a rehearsal of a job, and no start. @throws Problem that a start would get */
  readonly rehearse: (writer: Writer) => Promise<LimitHeaders>;
  /** Counts so many further rehearsals of a request that was counted as one, and no start; so many starts would be granted. @throws Problem UNAVAILABLE */
  readonly rehearseStarts: (writer: Writer, count: number) => Promise<Granted>;
  /** So many further starts of a request that was counted as one; fewer may be granted. @throws Problem UNAVAILABLE */
  readonly countStarts: (writer: Writer, count: number) => Promise<Granted>;
  /** What was counted turned out to be no start. */
  readonly giveBackStart: (writer: Writer) => void;
}

/** What the limits are. */
export interface WriteLimitsOptions {
  readonly reserve: RateReserve;
  /** Changes of one user in the long run. */
  readonly writesPerSecond: number;
  /** Jobs of one organisation that are started in the long run. */
  readonly startsPerSecond: number;
}

/** An organisation has the limits of so many users. */
const USERS_OF_AN_ORGANISATION = 4;

/** Limits of the platform API: on changes of each user, then of each organisation; on jobs of each organisation. Reads are not counted. */
export function createWriteLimits(options: WriteLimitsOptions): WriteLimits {
  const { reserve, writesPerSecond, startsPerSecond } = options;
  const listWrites = ({ userId, organisationId }: Writer): readonly Limit[] => [
    {
      name: "user",
      refusal: "Too many changes by this user",
      allowance: allowPerSecond(`user:${userId}`, writesPerSecond),
    },
    {
      name: "organisation",
      refusal: "Too many changes in this organisation",
      allowance: allowPerSecond(`organisation:${organisationId}`, writesPerSecond * USERS_OF_AN_ORGANISATION),
    },
  ];
  const listStarts = ({ organisationId }: Writer): readonly Limit[] => [
    {
      name: "organisation",
      refusal: "Too many jobs of this organisation",
      allowance: allowPerSecond(`jobs:${organisationId}`, startsPerSecond),
    },
  ];
  return {
    rehearse: (writer) => rehearseLimits(reserve, listStarts(writer)),
    rehearseStarts: (writer, count) => rehearseUpTo(reserve, listStarts(writer), count),
    countStarts: (writer, count) => takeUpTo(reserve, listStarts(writer), count),
    giveBackStart: (writer) => giveBackToAll(reserve, listStarts(writer)),
    count: (writer, rate) => {
      switch (rate) {
        case "start":
          return takeFromAll(reserve, listStarts(writer));
        case "write":
        case "upload":
          return takeFromAll(reserve, listWrites(writer));
        case "poll":
        case "read":
          return null;
        default:
          return rate satisfies never;
      }
    },
  };
}
